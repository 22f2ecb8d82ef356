#include "engine/io/onnx/operators/import_state.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "engine/io/onnx/folds/constant_folding.h"
#include "engine/layers/factory.h"
#include "engine/model/graph.h"

namespace moil::onnx {
namespace {

TensorInfo info_of(const std::vector<std::int64_t>& dims) {
  return {Dims(dims), dims.size() == 4 ? Layout::kChannelsLast : Layout::kPlain};
}

// Names of other tools as ours: no ':', which numbers outputs, and no slashes.
std::string as_name(std::string text) {
  for (char& c : text) {
    if (c == '/') c = '.';
    if (c == ':') c = '_';
  }
  const auto first = text.find_first_not_of('.');
  return first == std::string::npos ? std::string() : text.substr(first);
}

std::string number(std::size_t i) { return std::to_string(i); }

// What may be made of the numbers in the file: exporters turn, reshape and convert a weight in a
// handful of nodes, and it is a layer's in the end.
constexpr std::int64_t kMostTimes = 9;

// Weights are initializers or Constant nodes.
std::int64_t elements_in(const Graph& graph) {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : graph.constants) count += tensor.elements();
  for (const Node& node : graph.nodes)
    if (node.op == "Constant" && node.has("value")) count += node.tensor("value")->elements();
  return count;
}

// It depends on the numbers, not on their order: a tensor that is turned has the same.
std::uint64_t fingerprint_of(const std::vector<float>& values) {
  std::uint64_t sum = 0;
  for (const float value : values) {
    std::uint64_t bits = std::bit_cast<std::uint32_t>(value) + 0x9e3779b97f4a7c15ULL;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
    sum += bits ^ (bits >> 31);
  }
  return sum;
}

// What a layer's result is seen as, if what it reads is no whole image.
View view_behind(const Value& from, const Value& result) {
  const bool fits = result.is_image() && (from.view != View::kOneRow || result.info.dims[2] == 1) &&
                    (from.view != View::kOneColumn || result.info.dims[3] == 1);
  return fits ? from.view : View::kWhole;
}

bool are_one_number(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [&](float v) { return v == values[0]; });
}

// Names that exporters made up: "onnx::Add_12", "345".
bool is_made_up(const std::string& name) {
  return name.find("::") != std::string::npos ||
         name.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

// "features.0.0" of "features.0.0.weight", "in_proj" of "in_proj_weight".
std::string owner_of(const std::string& source) {
  static constexpr std::string_view kWeight = "weight";
  if (!source.ends_with(kWeight) || is_made_up(source)) return {};
  const std::string owner = source.substr(0, source.size() - kWeight.size());
  if (!owner.ends_with('.') && !owner.ends_with('_')) return {};
  return owner.substr(0, owner.size() - 1);
}

bool is_mask(const std::vector<float>& values) {
  constexpr float kClosed = -30;  // e^-30 is 1e-13
  const auto closed =
      std::count_if(values.begin(), values.end(), [](float v) { return v <= kClosed; });
  const auto open = std::count(values.begin(), values.end(), 0.0F);
  return closed > 0 && closed + open == static_cast<std::ptrdiff_t>(values.size());
}

std::string parameter_of(const std::string& source) {
  if (source.ends_with(kConstantSuffix))
    return source.substr(0, source.size() - (sizeof kConstantSuffix - 1));
  const std::string owner = owner_of(source);
  return owner.empty() && !is_made_up(source) ? source : owner;
}

std::string name_after(const Node& node) {
  const std::string own = as_name(node.name);
  return own.empty() ? as_name(node.outputs[0]) : own;
}

ImportState::ImportState(const Graph& graph, const std::vector<GraphValue>& outputs)
    : graph_(graph), may_make_(kMaxGrownElements + kMostTimes * elements_in(graph)) {
  for (const Node& node : graph.nodes)
    for (const std::string& output : node.outputs) producers_[output] = &node;
  for (const GraphValue& output : outputs) ++readers_[output.name];
  for (const GraphValue& input : graph.inputs) producers_.erase(input.name);
  for (const auto& [name, tensor] : graph.constants) {
    producers_.erase(name);
    values_[name].constant = {std::shared_ptr<void>(), &tensor};  // the graph's
    values_[name].source = name;
    if (tensor.elements() > 1 && tensor.is_float && !name.ends_with(kConstantSuffix))
      values_[name].root = name;
  }
}

const Node* ImportState::producer(const std::string& name) const {
  const auto it = producers_.find(name);
  return it == producers_.end() ? nullptr : it->second;
}

const Value* ImportState::find(const std::string& name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? nullptr : &it->second;
}

void ImportState::set(const std::string& name, Value value) { values_[name] = std::move(value); }

bool ImportState::has(const Node& node, std::size_t input) const {
  return input < node.inputs.size() && !node.inputs[input].empty();
}

bool ImportState::is_constant(const Node& node, std::size_t input) const {
  const Value* value = has(node, input) ? find(node.inputs[input]) : nullptr;
  return value != nullptr && value->constant != nullptr;
}

const Tensor* ImportState::optional_constant(const Node& node, std::size_t input) const {
  return has(node, input) ? &constant(node, input) : nullptr;
}

const Tensor& ImportState::constant(const Node& node, std::size_t input) const {
  if (!has(node, input)) throw Unsupported("input " + number(input) + " is missing");
  if (!is_constant(node, input))
    throw Unsupported("input " + number(input) + " (\"" + node.inputs[input] +
                      "\") is computed; only constants are supported there");
  return *find(node.inputs[input])->constant;
}

const Value& ImportState::unfinished_data(const Node& node, std::size_t input) const {
  if (!has(node, input)) throw Unsupported("input " + number(input) + " is missing");
  const Value& value = *find(node.inputs[input]);
  if (value.constant)
    throw Unsupported("input " + number(input) + " (\"" + node.inputs[input] +
                      "\") is a constant; only computed values are supported there");
  return value;
}

const Value& ImportState::data(const Node& node, std::size_t input) {
  const Value& value = pixels(node, input);
  if (value.view == View::kWhole) return value;
  return plain_[node.inputs[input]] = as_rows(value);
}

const Value& ImportState::of_any_shape(const Node& node, std::size_t input) {
  const Value& value = unfinished_data(node, input);
  return value.form == Form::kFrames ? value : data(node, input);
}

const Value& ImportState::pixels(const Node& node, std::size_t input) {
  const Value& value = unfinished_data(node, input);
  if (value.form == Form::kPending)
    throw Unsupported("input " + number(input) + " (\"" + node.inputs[input] + "\") comes from " +
                      value.node->label() +
                      ", which is supported as part of GELU or layer normalisation alone");
  if (value.is_padded() || value.form == Form::kNormalised || value.form == Form::kFrames)
    finish(node.inputs[input], value);
  return values_.at(node.inputs[input]);
}

Value ImportState::spatial(const Node& node, std::size_t input) {
  const Value& value = pixels(node, input);
  if (value.is_line()) return value;
  return file_dims(value).size() == 3 ? as_line(data(node, input)) : as_image(data(node, input));
}

Value ImportState::rows(const Node& node, std::size_t input) { return as_rows(data(node, input)); }

std::string ImportState::unique_name(const Node& node, const std::string& wish) {
  std::string base = as_name(wish);
  for (std::size_t i = 1; i < node.inputs.size() && base.empty(); ++i)
    if (const Value* value = find(node.inputs[i])) base = as_name(owner_of(value->source));
  if (base.empty()) base = name_after(node);
  if (base.empty()) base = node.op;
  int& number = last_number_.try_emplace(base, 1).first->second;
  std::string name = base;
  while (names_.contains(name)) name = base + "_" + std::to_string(++number);
  return name;
}

Value& ImportState::add_layer(const Node& node, const std::string& type,
                              const std::vector<const Value*>& from, Properties properties,
                              std::map<std::string, NamedTensor> weights, const std::string& base) {
  for (const auto& [name, tensor] : weights)
    spend(node, static_cast<std::int64_t>(tensor.data.size()));
  Value result = make({unique_name(node, base), type, {}, std::move(properties)}, from);
  result.view = view_behind(*from.at(0), result);
  for (auto& [name, tensor] : weights) add_weight(result.layer, name, std::move(tensor));
  return values_[node.outputs[0]] = std::move(result);
}

Value ImportState::helper(const std::string& name, const std::string& type, const Value& from,
                          Properties properties) {
  const auto made = helpers_.find(name);
  if (made != helpers_.end()) return made->second;
  if (names_.contains(name)) throw Unsupported("a layer is named \"" + name + "\"");
  return helpers_[name] = make({name, type, {}, std::move(properties)}, {&from});
}

Value ImportState::make(LayerDescription layer, const std::vector<const Value*>& from) {
  for (const auto& [name, property] : layer.properties) {
    const double* number = std::get_if<double>(&property);
    if (number != nullptr && !std::isfinite(*number))
      throw Unsupported("a constant that is not a finite number");
  }
  std::vector<TensorInfo> infos;
  for (const Value* value : from) {
    layer.inputs.push_back(value->layer);
    infos.push_back(value->info);
  }
  Value result;
  try {
    const auto made = make_layer(layer.type, layer.name, layer.properties);
    result.info = infer_outputs(*made, layer, infos).at(0);
  } catch (const Error& e) {
    throw Unsupported(e.what());
  }
  result.layer = layer.name;
  result.batch_axis = from.at(0)->batch_axis;
  names_.insert(layer.name);
  layers_[layer.name] = result;
  indices_[layer.name] = description_.layers.size();
  description_.layers.push_back(std::move(layer));
  return result;
}

Value ImportState::further_output(const Value& first, std::size_t slot, const Dims& dims) {
  Value value = first;
  value.layer += ":" + number(slot);
  value.info.dims = dims;
  return layers_[value.layer] = value;
}

void ImportState::alias(const Node& node, const Value& value) {
  Value copy = value;  // setting may move what it refers to
  for (const std::string& input : node.inputs) {
    const Value* from = find(input);
    copy.shared |= from != nullptr && from->layer == value.layer && readers_[input] > 1;
  }
  set(node.outputs[0], std::move(copy));
}

void ImportState::add_input(const std::string& name, std::vector<std::int64_t> dims,
                            moil::ElementType type, View view) {
  if (view == View::kChannelsLast) dims = {dims[0], dims[3], dims[1], dims[2]};
  Value value;
  value.view = view;
  value.layer = as_name(name);
  if (value.layer.empty()) throw Error(ErrorCode::kBadData, "an input has no name");
  value.info = info_of(dims);
  value.info.type = type;
  if (!names_.insert(value.layer).second)
    throw Error(ErrorCode::kBadData, "two inputs are named \"" + name + "\"");
  description_.inputs.push_back({value.layer, {dims.begin() + 1, dims.end()}, type});
  layers_[value.layer] = value;
  set(name, std::move(value));
}

bool ImportState::is_input(const Value& value) const {
  return std::any_of(description_.inputs.begin(), description_.inputs.end(),
                     [&](const InputDescription& i) { return i.name == value.layer; });
}

void ImportState::transpose_input(const Node& node, const Value& value,
                                  const std::vector<std::int64_t>& dims) {
  for (InputDescription& input : description_.inputs)
    if (input.name == value.layer) input.dims.assign(dims.begin() + 1, dims.end());
  Value result = value;
  result.info = info_of(dims);
  layers_[value.layer] = result;
  result.shared = true;  // with the input as the file has it
  set(node.outputs[0], std::move(result));
}

void ImportState::add_reader(const Node& node) {
  for (const std::string& input : node.inputs) ++readers_[input];
}

bool ImportState::is_only_reader(const Node& node, std::size_t input) {
  return readers_[node.inputs[input]] == 1 && !pixels(node, input).shared;
}

LayerDescription* ImportState::sole_producer(const Node& node, std::size_t input) {
  if (!is_only_reader(node, input)) return nullptr;
  return layer_of(pixels(node, input));
}

void ImportState::claim_weight(const Node& node, std::size_t input, std::size_t first_layer) {
  if (!is_constant(node, input)) return;
  const Value& value = *find(node.inputs[input]);
  const std::vector<float>& numbers = value.constant->floats;
  if (value.root.empty() || numbers.size() < 2 || are_one_number(numbers) || is_mask(numbers))
    return;
  Claim claim{&node, value.source.empty() ? value.root : value.source, {}};
  for (std::size_t i = first_layer; i < description_.layers.size(); ++i)
    claim.layers.push_back(description_.layers[i].name);
  claims_[value.root + "\n" + number(numbers.size()) + "\n" +
          std::to_string(fingerprint_of(numbers))]
      .push_back(std::move(claim));
}

std::vector<std::vector<ImportState::Claim>> ImportState::ties() const {
  std::vector<std::vector<Claim>> ties;
  for (const auto& [key, claims] : claims_)
    if (claims.size() > 1) ties.push_back(claims);
  return ties;
}

bool ImportState::is_of_one_sample() const {
  return std::all_of(graph_.inputs.begin(), graph_.inputs.end(), [](const GraphValue& input) {
    return !input.dims.empty() && input.dims[0] == 1;
  });
}

void ImportState::spend(const Node& node, std::int64_t elements) {
  may_make_ -= elements;
  if (may_make_ >= 0) return;
  throw Error(ErrorCode::kBadData,
              node.label() +
                  ": what is made of the file's constants takes far more memory "
                  "than the file");
}

const Value* ImportState::value_of(const std::string& layer) const {
  const auto it = layers_.find(layer);
  return it == layers_.end() ? nullptr : &it->second;
}

LayerDescription* ImportState::layer_of(const Value& value) {
  const auto it = indices_.find(value.layer);
  return it == indices_.end() ? nullptr : &description_.layers[it->second];
}

void ImportState::add_weight(const std::string& layer, const std::string& weight,
                             NamedTensor tensor) {
  weights_[layer + "." + weight] = std::move(tensor);
}

}  // namespace moil::onnx
