#include "engine/io/onnx/export/layer_writer.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace moil::onnx {

using Ints = std::vector<std::int64_t>;

LayerWriter::LayerWriter(const ModelDescription& model, const WeightMap& weights,
                         const moil::Graph& built, Graph& graph)
    : weights_(weights), built_(built), graph_(graph) {
  for (const LayerDescription& layer : model.layers)
    all_properties_[layer.name] = &layer.properties;
}

void LayerWriter::begin(const moil::Node& node) {
  layer_ = &node;
  has_name_ = false;
  properties_ = all_properties_.at(node.name);
}

std::vector<std::string> LayerWriter::inputs() const {
  std::vector<std::string> names;
  for (const int v : layer_->inputs) {
    const std::string& name = built_.values[static_cast<std::size_t>(v)].name;
    const auto it = left_out_.find(name);
    names.push_back(it == left_out_.end() ? name : it->second);
  }
  return names;
}

const TensorInfo& LayerWriter::input_info() const {
  return built_.values[static_cast<std::size_t>(layer_->inputs[0])].info;
}

std::vector<TensorInfo> LayerWriter::input_infos() const {
  std::vector<TensorInfo> infos;
  for (const int v : layer_->inputs)
    infos.push_back(built_.values[static_cast<std::size_t>(v)].info);
  return infos;
}

const TensorInfo& LayerWriter::output_info() const {
  return built_.values[static_cast<std::size_t>(layer_->outputs[0])].info;
}

std::string LayerWriter::emit(const std::string& op, std::vector<std::string> from,
                              const std::string& to, std::map<std::string, Attribute> attributes) {
  const std::string name = to.empty() ? layer_->name : to;
  const std::string node = has_name_ && to.empty() ? name + ".end" : name;
  graph_.nodes.push_back({node, op, "", std::move(from), {name}, std::move(attributes)});
  return name;
}

void LayerWriter::emit_all(const std::string& op, std::vector<std::string> from,
                           std::vector<std::string> to,
                           std::map<std::string, Attribute> attributes) {
  has_name_ = true;
  graph_.nodes.push_back(
      {layer_->name, op, "", std::move(from), std::move(to), std::move(attributes)});
}

std::string LayerWriter::emit_part(const std::string& op, std::vector<std::string> from,
                                   const std::string& short_name,
                                   std::map<std::string, Attribute> attributes) {
  return emit(op, std::move(from), layer_->name + "." + short_name, std::move(attributes));
}

std::string LayerWriter::emit_batch(const std::string& x) {
  const std::string shape = emit_part("Shape", {x}, "shape");
  return emit_part("Slice", {shape, add_ints("first", {0}), add_ints("second", {1})}, "batch");
}

bool LayerWriter::leave_out() {
  const auto& ends = built_.outputs;
  if (std::find(ends.begin(), ends.end(), layer_->outputs[0]) != ends.end()) return false;
  left_out_[layer_->name] = inputs()[0];
  return true;
}

std::string LayerWriter::full_name(const std::string& weight) const {
  for (const WeightSpec& spec : layer_->weights)
    if (spec.name == weight) return weight_name(*layer_, spec);
  return layer_->name + "." + weight;
}

bool LayerWriter::is_shared(const std::string& weight) const {
  return std::any_of(layer_->weights.begin(), layer_->weights.end(),
                     [&](const WeightSpec& spec) { return spec.name == weight && spec.shared; });
}

Tensor LayerWriter::constant_of(const std::string& weight) const {
  const std::string full = full_name(weight);
  const auto it = weights_.find(full);
  if (it == weights_.end()) throw Error(ErrorCode::kBadData, "weight \"" + full + "\" is missing");
  return Tensor::of(it->second.dims, it->second.data);
}

std::string LayerWriter::add_constant(const std::string& short_name, Tensor tensor) {
  const std::string full = full_name(short_name);
  graph_.constants[full] = std::move(tensor);
  return full;
}

std::string LayerWriter::add_weight(const std::string& weight) {
  return add_constant(weight, constant_of(weight));
}

std::string LayerWriter::add_weight(const std::string& weight, const Ints& dims) {
  Tensor tensor = constant_of(weight);
  tensor.dims = dims;
  return add_constant(weight, std::move(tensor));
}

std::string LayerWriter::add_number(const std::string& short_name, float value) {
  return add_constant(short_name, Tensor::of({}, {value}));
}

std::string LayerWriter::add_ints(const std::string& short_name, const Ints& values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return add_constant(short_name, Tensor::of_ints({size}, values));
}

bool LayerWriter::flag(const std::string& property, bool fallback) const {
  return reader().flag(property, fallback);
}

Ints LayerWriter::two(const std::string& property, std::int64_t fallback) const {
  return reader().integers(property, 2, fallback);
}

Ints LayerWriter::pads() const {
  const auto it = properties_->find("padding");
  const Ints* list = it == properties_->end() ? nullptr : std::get_if<Ints>(&it->second);
  if (list != nullptr && list->size() == 4) return *list;
  const Ints both = two("padding", 0);
  return {both[0], both[1], both[0], both[1]};
}

}  // namespace moil::onnx
