#include "engine/layers/factory.h"

#include <map>
#include <utility>

#include "base/error.h"
#include "engine/layers/activation.h"
#include "engine/layers/add.h"
#include "engine/layers/average_pool.h"
#include "engine/layers/batch_norm.h"
#include "engine/layers/concat.h"
#include "engine/layers/conv2d.h"
#include "engine/layers/dropout.h"
#include "engine/layers/flatten.h"
#include "engine/layers/fully_connected.h"
#include "engine/layers/global_average_pool.h"
#include "engine/layers/identity.h"
#include "engine/layers/layer_norm.h"
#include "engine/layers/matmul.h"
#include "engine/layers/max_pool.h"
#include "engine/layers/mean_squared_error.h"
#include "engine/layers/multi_out.h"
#include "engine/layers/multiply.h"
#include "engine/layers/pad.h"
#include "engine/layers/parameter.h"
#include "engine/layers/permute.h"
#include "engine/layers/pointwise.h"
#include "engine/layers/prelu.h"
#include "engine/layers/reshape.h"
#include "engine/layers/sigmoid_cross_entropy.h"
#include "engine/layers/slice.h"
#include "engine/layers/softmax.h"
#include "engine/layers/softmax_cross_entropy.h"

namespace moil {
namespace {

using Table = std::map<std::string, LayerMaker, std::less<>>;

// Each activation is a type of its own: its maker knows which.
LayerMaker activation(ActivationKind kind) {
  return [kind](const std::string& name, const Properties& properties) {
    return make_activation(kind, name, properties);
  };
}

Table built_in_layers() {
  Table table = {
      {"add", make_add},
      {"add_parameter", make_add_parameter},
      {"average_pool", make_average_pool},
      {"batch_norm", make_batch_norm},
      {"clip", make_clip},
      {"concat", make_concat},
      {"conv2d", make_conv2d},
      {"dropout", make_dropout},
      {"flatten", make_flatten},
      {"fully_connected", make_fully_connected},
      {"global_average_pool", make_global_average_pool},
      {"identity", make_identity},
      {"layer_norm", make_layer_norm},
      {"log_softmax", make_log_softmax},
      {"matmul", make_matmul},
      {"max_pool", make_max_pool},
      {"mse", make_mean_squared_error},
      {"multi_out", make_multi_out},
      {"multiply", make_multiply},
      {"multiply_parameter", make_multiply_parameter},
      {"pad", make_pad},
      {"permute", make_permute},
      {"prelu", make_prelu},
      {"prepend_parameter", make_prepend_parameter},
      {"reciprocal", make_reciprocal},
      {"reshape", make_reshape},
      {"scale", make_scale},
      {"sigmoid_cross_entropy", make_sigmoid_cross_entropy},
      {"slice", make_slice},
      {"softmax", make_softmax},
      {"softmax_cross_entropy", make_softmax_cross_entropy},
  };
  for (const ActivationKind kind : kActivationKinds)
    table.emplace(to_string(kind), activation(kind));
  return table;
}

Table& table() {
  static Table layers = built_in_layers();
  return layers;
}

}  // namespace

std::unique_ptr<Layer> make_layer(std::string_view type, const std::string& name,
                                  const Properties& properties) {
  const auto it = table().find(type);
  if (it != table().end()) return it->second(name, properties);
  std::string known;
  for (const auto& known_type : layer_types()) known += (known.empty() ? "" : ", ") + known_type;
  throw Error(ErrorCode::kInvalidArgument, "layer \"" + name + "\": unknown type \"" +
                                               std::string(type) + "\"; known: " + known);
}

void register_layer(const std::string& type, LayerMaker maker) {
  table().insert_or_assign(type, std::move(maker));
}

std::vector<std::string> layer_types() {
  std::vector<std::string> types;
  for (const auto& [type, maker] : table()) types.push_back(type);
  return types;
}

}  // namespace moil
