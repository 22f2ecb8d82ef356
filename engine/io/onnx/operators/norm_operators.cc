// Norms of each sample by itself: of groups of channels, of one channel, of neighbouring channels.
#include <algorithm>

#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

// A scale and a shift for each channel; neither if they change nothing.
struct Affine {
  Floats gamma, beta;
  std::string owner;
  bool changes() const {
    const auto all = [](const Floats& values, float one) {
      return std::all_of(values.begin(), values.end(), [&](float v) { return v == one; });
    };
    return !all(gamma, 1) || !all(beta, 0);
  }
};

Affine affine_of(ImportState& state, const Node& node, std::int64_t channels, std::int64_t groups) {
  Affine affine{
      {},
      {},
      owner_of(state.constant(node, 1).dims.empty() ? std::string()
                                                    : state.find(node.inputs[1])->source)};
  for (const std::size_t i : {1U, 2U}) {
    Floats values = weight_of(state.constant(node, i)).data;
    const auto count = static_cast<std::int64_t>(values.size());
    if (count != channels && count != groups)
      throw Unsupported("its scale and bias do not fit its input");
    state.spend(node, channels);
    Floats& to = i == 1 ? affine.gamma : affine.beta;
    for (std::int64_t c = 0; c < channels; ++c)
      to.push_back(values[static_cast<std::size_t>(c * count / channels)]);
  }
  return affine;
}

double epsilon_of(const Node& node) {
  const double epsilon = tidy(node.number("epsilon", 1e-5));
  if (!(epsilon > 0)) throw Unsupported("its epsilon is not above 0");
  return epsilon;
}

Value normalised(ImportState& state, const Node& node, const Value& rows) {
  return state.add_layer(node, "layer_norm", {&rows},
                         {{"affine", false}, {"epsilon", epsilon_of(node)}});
}

// Takes an image, group by group of its channels.
void normalise_image(ImportState& state, const Node& node, const Value& x, std::int64_t groups,
                     const Affine& affine) {
  const ::moil::Dims d = x.info.dims;
  Value v =
      state.add_layer(node, "reshape", {&x}, {{"dims", Ints{groups, d[1] / groups * d[2] * d[3]}}});
  v = normalised(state, node, v);
  v = state.add_layer(node, "reshape", {&v},
                      {{"dims", Ints{d[1], d[2], d[3]}}, {"layout", std::string("plain")}});
  v.batch_axis = 0;
  v = state.as_image(v);
  v.view = x.view;
  if (affine.changes())
    v = state.add_layer(
        node, "conv2d", {&v},
        {{"out_channels", d[1]},
         {"kernel", std::int64_t{1}},
         {"stride", std::int64_t{1}},
         {"padding", std::int64_t{0}},
         {"dilation", std::int64_t{1}},
         {"groups", d[1]},
         {"bias", true}},
        {{"weight", {{d[1], 1, 1, 1}, affine.gamma}}, {"bias", {{d[1]}, affine.beta}}},
        affine.owner);
  state.alias(node, v);
}

// Takes rows [N, C, L], which one channel is already.
void normalise_rows(ImportState& state, const Node& node, const Value& x, const Affine& affine) {
  Value v = normalised(state, node, x);
  const Ints dims = {x.info.dims[1], 1};
  if (affine.changes()) {
    v = state.add_layer(node, "multiply_parameter", {&v}, {{"dims", dims}},
                        {{"weight", {dims, affine.gamma}}}, affine.owner);
    v = state.add_layer(node, "add_parameter", {&v}, {{"dims", dims}},
                        {{"weight", {dims, affine.beta}}});
  }
  state.alias(node, v);
}

void import_instance_norm(ImportState& state, const Node& node) {
  const Value& found = state.pixels(node, 0);
  const bool rows = !found.is_line() && file_dims(found).size() == 3 && !found.is_image() &&
                    found.batch_axis == 0;
  const Value x = rows ? found : state.spatial(node, 0);
  const std::int64_t channels = x.info.dims[1];
  const Affine affine = affine_of(state, node, channels, channels);
  if (rows) return normalise_rows(state, node, x, affine);
  normalise_image(state, node, x, channels, affine);
}

void import_group_norm(ImportState& state, const Node& node) {
  const Value x = state.spatial(node, 0);
  const std::int64_t channels = x.info.dims[1], groups = node.integer("num_groups", 0);
  if (groups < 1 || channels % groups != 0)
    throw Unsupported("its groups do not share the channels of its input");
  normalise_image(state, node, x, groups, affine_of(state, node, channels, groups));
}

void import_lrn(ImportState& state, const Node& node) {
  const Value x = state.spatial(node, 0);
  state.add_layer(node, "local_response_norm", {&x},
                  {{"size", node.integer("size", 0)},
                   {"alpha", tidy(node.number("alpha", 1e-4))},
                   {"beta", tidy(node.number("beta", 0.75))},
                   {"bias", tidy(node.number("bias", 1))}});
}

}  // namespace

void add_norm_operators(Operators& operators) {
  operators.insert({{"InstanceNormalization", import_instance_norm},
                    {"GroupNormalization", import_group_norm},
                    {"LRN", import_lrn}});
}

}  // namespace moil::onnx
