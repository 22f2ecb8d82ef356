// Images of another size, by a factor or to a size that the file says.
#include <cmath>

#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/io/onnx/operators/operators.h"

namespace moil::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// The size that an axis gets; coordinates are by the ratio of the sizes, so the factor must be it.
std::int64_t scaled(std::int64_t size, double factor, bool ratio_counts) {
  constexpr double kMostPixels = 1 << 24;
  const double exact = static_cast<double>(size) * factor;
  if (!(exact >= 1) || exact > kMostPixels) throw Unsupported("its scales are no image's");
  const double whole = std::floor(exact + 1e-6 * exact);
  if (ratio_counts && std::abs(exact - whole) > 1e-5 * exact)
    throw Unsupported("scales that give no whole number of pixels are not supported");
  return static_cast<std::int64_t>(whole);
}

// What each axis of the file becomes; `count` numbers, of the axes that the node names.
Ints sizes_of(const Node& node, const Ints& dims, const Tensor* scales, const Tensor* sizes,
              bool ratio_counts) {
  Ints axes = node.integers("axes");
  if (axes.empty())
    for (std::size_t k = 0; k < dims.size(); ++k) axes.push_back(static_cast<std::int64_t>(k));
  const bool by_size = sizes != nullptr && sizes->elements() > 0;
  const Tensor* given = by_size ? sizes : scales;
  const std::vector<double> by_attribute = node.numbers("scales");
  const auto count =
      given == nullptr ? static_cast<std::int64_t>(by_attribute.size()) : given->elements();
  if (count != static_cast<std::int64_t>(axes.size()) ||
      (given != nullptr && given->is_float == by_size))
    throw Unsupported("its scales or sizes do not fit its input");
  Ints result = dims;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = axis_of(node, axes[i], dims.size());
    if (by_size)
      result[axis] = sizes->ints[i];
    else
      result[axis] = scaled(
          dims[axis], given == nullptr ? by_attribute[i] : static_cast<double>(given->floats[i]),
          ratio_counts);
  }
  return result;
}

void refuse_other_forms(const Node& node) {
  if (node.integer("antialias", 0) != 0) throw Unsupported("antialias is not supported");
  if (node.word("keep_aspect_ratio_policy", "stretch") != "stretch")
    throw Unsupported("keep_aspect_ratio_policy is not supported");
  const std::string mode = node.word("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "bilinear")
    throw Unsupported("mode " + mode + " is not supported");
}

// The engine's words that mean the same.
std::string coordinates_of(const Node& node, bool old, bool to_one_pixel) {
  if (old) return "asymmetric";
  const std::string word = node.word("coordinate_transformation_mode", "half_pixel");
  if (word == "half_pixel_symmetric") return "half_pixel";
  if (word == "pytorch_half_pixel" && !to_one_pixel) return "half_pixel";
  if (word == "half_pixel" || word == "align_corners" || word == "asymmetric") return word;
  throw Unsupported("coordinate_transformation_mode " + word + " is not supported");
}

// What the layer does without being told, so that an export comes back as it was.
void drop_defaults(Properties& properties) {
  const std::map<std::string, std::string> defaults = {
      {"mode", "nearest"}, {"coordinates", "asymmetric"}, {"rounding", "floor"}};
  for (const auto& [name, word] : defaults) {
    const auto it = properties.find(name);
    if (it != properties.end() && std::get<std::string>(it->second) == word) properties.erase(it);
  }
}

void resize(ImportState& state, const Node& node, const Tensor* scales, const Tensor* sizes,
            bool old) {
  refuse_other_forms(node);
  const Value x = state.spatial(node, 0);
  const Ints dims = file_dims(x);
  const bool by_corners =
      !old && node.word("coordinate_transformation_mode", "half_pixel") == "align_corners";
  const Ints to = sizes_of(node, dims, scales, sizes, !by_corners);
  Ints size = {x.info.dims[2], x.info.dims[3]};
  bool to_one_pixel = false, shrinks = false;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (to[k] == dims[k]) continue;
    const std::size_t axis = k == 0 ? 0 : engine_axis(x, k);
    if (axis < 2) throw Unsupported("only rows and columns can be resized");
    size[axis - 2] = to[k];
    to_one_pixel = to_one_pixel || to[k] == 1;
    shrinks = shrinks || to[k] < dims[k];
  }
  if (to == dims) return state.alias(node, x);
  const bool linear = node.word("mode", "nearest") != "nearest";
  if (old && !linear && shrinks)
    throw Unsupported("before opset 11 it is not said which pixel a smaller image takes");
  Properties properties = {{"size", size},
                           {"mode", std::string(linear ? "linear" : "nearest")},
                           {"coordinates", coordinates_of(node, old, to_one_pixel)}};
  if (!linear && !old) properties["rounding"] = node.word("nearest_mode", "round_prefer_floor");
  drop_defaults(properties);
  state.add_layer(node, "resize", {&x}, std::move(properties));
}

void import_upsample(ImportState& state, const Node& node) {
  resize(state, node, state.optional_constant(node, 1), nullptr, true);
}

void import_resize(ImportState& state, const Node& node) {
  if (state.opset() < 11)
    return resize(state, node, state.optional_constant(node, 1), nullptr, true);
  resize(state, node, state.optional_constant(node, 2), state.optional_constant(node, 3), false);
}

}  // namespace

void add_resize_operators(Operators& operators) {
  operators.insert({{"Resize", import_resize}, {"Upsample", import_upsample}});
}

}  // namespace moil::onnx
