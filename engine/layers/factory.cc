#include "engine/layers/factory.h"

#include <map>
#include <utility>

#include "base/error.h"
#include "engine/layers/makers.h"

namespace moil {
namespace {

struct Type {
  LayerMaker maker;
  LayerTraits traits;
};
using Table = std::map<std::string, Type, std::less<>>;

// Each activation is a type of its own: its maker knows which.
Type activation(ActivationKind kind) {
  const auto maker = [kind](const std::string& name, const Properties& properties) {
    return make_activation(kind, name, properties);
  };
  LayerTraits traits = {.takes_one_input = true, .is_activation = true};
  if (kind == ActivationKind::kRelu || kind == ActivationKind::kRelu6)
    traits.fuses_into_source = traits.has_flat_side = traits.commutes_with_maximum = true;
  if (kind == ActivationKind::kSigmoid) traits.probabilities = Probabilities::kOfEach;
  if (kind == ActivationKind::kHardSigmoid) {
    traits.probabilities = Probabilities::kRough;
    traits.has_flat_side = true;
  }
  return {maker, traits};
}

Table built_in_layers() {
  constexpr LayerTraits kSimple = {.takes_one_input = true},
                        kMoves = {.takes_one_input = true, .only_moves = true},
                        kWeighted = {.takes_one_input = true, .owns_weights = true},
                        kCell = {.owns_weights = true},
                        kRecurrent = {.owns_weights = true, .takes_lengths = true};
  Table table = {
      {"add", {make_add, {}}},
      {"add_parameter", {make_add_parameter, kWeighted}},
      {"average_pool", {make_average_pool, kSimple}},
      {"batch_norm",
       {make_batch_norm,
        {.takes_one_input = true, .owns_weights = true, .normalises_over_batch = true}}},
      {"clip", {make_clip, {.takes_one_input = true, .has_flat_side = true}}},
      {"concat", {make_concat, {}}},
      {"conv1d",
       {make_conv1d,
        {.takes_one_input = true, .owns_weights = true, .rows_property = "out_channels"}}},
      {"conv2d",
       {make_conv2d,
        {.takes_one_input = true, .owns_weights = true, .rows_property = "out_channels"}}},
      {"dropout",
       {make_dropout, {.takes_one_input = true, .draws = true, .vanishes_in_inference = true}}},
      {"embedding", {make_embedding, {.owns_weights = true, .takes_integers = true}}},
      {"flatten", {make_flatten, kMoves}},
      {"exp", {make_exp, kSimple}},
      {"fully_connected",
       {make_fully_connected,
        {.takes_one_input = true,
         .takes_rows = true,
         .owns_weights = true,
         .rows_property = "units"}}},
      {"global_average_pool", {make_global_average_pool, kSimple}},
      {"gru", {make_gru, kRecurrent}},
      {"gru_cell", {make_gru_cell, kCell}},
      {"huber", {make_huber, {}}},
      {"identity",
       {make_identity,
        {.takes_one_input = true, .vanishes_in_inference = true, .only_moves = true}}},
      {"layer_norm", {make_layer_norm, kWeighted}},
      {"local_response_norm", {make_local_response_norm, kSimple}},
      {"location_attention",
       {make_location_attention, {.owns_weights = true, .takes_lengths = true}}},
      {"log", {make_log, kSimple}},
      {"log_softmax", {make_log_softmax, kSimple}},
      {"lstm", {make_lstm, kRecurrent}},
      {"lstm_cell", {make_lstm_cell, kCell}},
      {"matmul", {make_matmul, {}}},
      {"max_pool", {make_max_pool, {.takes_one_input = true, .takes_maximum = true}}},
      {"maximum", {make_maximum, {}}},
      {"minimum", {make_minimum, {}}},
      {"mse", {make_mean_squared_error, {}}},
      {"multi_head_attention",
       {make_multi_head_attention, {.owns_weights = true, .takes_lengths = true}}},
      {"multi_out", {make_multi_out, {.takes_one_input = true, .fans_out = true}}},
      {"multiply", {make_multiply, {}}},
      {"multiply_parameter", {make_multiply_parameter, kWeighted}},
      {"pad", {make_pad, kSimple}},
      {"permute", {make_permute, kMoves}},
      {"positional_encoding", {make_positional_encoding, kSimple}},
      {"power", {make_power, kSimple}},
      {"prelu", {make_prelu, kWeighted}},
      {"prepend_parameter", {make_prepend_parameter, kWeighted}},
      {"reciprocal", {make_reciprocal, kSimple}},
      {"reshape", {make_reshape, kMoves}},
      {"resize", {make_resize, kSimple}},
      {"rnn", {make_rnn, kRecurrent}},
      {"rnn_cell", {make_rnn_cell, kCell}},
      {"scale", {make_scale, kSimple}},
      {"scheduled_sampling",
       {make_scheduled_sampling, {.draws = true, .vanishes_in_inference = true}}},
      {"sigmoid_cross_entropy", {make_sigmoid_cross_entropy, {}}},
      {"slice", {make_slice, kSimple}},
      {"softmax",
       {make_softmax,
        {.takes_one_input = true,
         .is_activation = true,
         .probabilities = Probabilities::kOfClasses}}},
      {"softmax_cross_entropy", {make_softmax_cross_entropy, {}}},
      {"stack", {make_stack, {}}},
      {"unstack", {make_unstack, {.takes_one_input = true}}},
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
  if (it != table().end()) return it->second.maker(name, properties);
  std::string known;
  for (const auto& known_type : layer_types()) known += (known.empty() ? "" : ", ") + known_type;
  throw Error(ErrorCode::kInvalidArgument, "layer \"" + name + "\": unknown type \"" +
                                               std::string(type) + "\"; known: " + known);
}

void register_layer(const std::string& type, LayerMaker maker, const LayerTraits& traits) {
  table().insert_or_assign(type, Type{std::move(maker), traits});
}

const LayerTraits& layer_traits(std::string_view type) {
  static constexpr LayerTraits kNone;
  const auto it = table().find(type);
  return it == table().end() ? kNone : it->second.traits;
}

std::vector<std::string> layer_types() {
  std::vector<std::string> types;
  for (const auto& [type, entry] : table()) types.push_back(type);
  return types;
}

}  // namespace moil
