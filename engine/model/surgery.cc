#include "engine/model/surgery.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "engine/layers/traits.h"
#include "engine/model/graph.h"
#include "engine/model/initial_weights.h"
#include "engine/model/realizers/insert.h"
#include "engine/model/weights.h"

namespace moil {
namespace {

LayerDescription& layer_named(ModelDescription& model, const std::string& name) {
  return *std::find_if(model.layers.begin(), model.layers.end(),
                       [&](const LayerDescription& l) { return l.name == name; });
}

std::string rows_property(const LayerDescription& layer) {
  return std::string(layer_traits(layer.type).rows_property);
}

}  // namespace

namespace {

// From the only output back to the first layer that owns weights, over layers of one input; null
// if they fork before.
const Node* last_weighted(const Graph& graph, std::vector<const Node*>* passed = nullptr) {
  int producer = graph.values[static_cast<std::size_t>(graph.outputs[0])].producer;
  while (producer >= 0) {
    const Node& node = graph.nodes[static_cast<std::size_t>(producer)];
    if (!node.weights.empty()) return &node;
    if (node.inputs.size() != 1) return nullptr;
    if (passed != nullptr) passed->push_back(&node);
    producer = graph.values[static_cast<std::size_t>(node.inputs[0])].producer;
  }
  return nullptr;
}

bool is_classifier(const Node& node) { return !layer_traits(node.type).rows_property.empty(); }

// Whether an activation behind the classifier passes no gradient where it is flat: a row that is
// there for every sample never learns.
bool rows_can_die(const Graph& graph) {
  std::vector<const Node*> passed;
  (void)last_weighted(graph, &passed);
  return std::any_of(passed.begin(), passed.end(),
                     [](const Node* node) { return layer_traits(node->type).has_flat_side; });
}

bool has_bias(ModelDescription& model, const std::string& layer) {
  const Properties& properties = layer_named(model, layer).properties;
  const auto it = properties.find("bias");
  return it == properties.end() || std::get<bool>(it->second);
}

// A start from which rows learn of every sample: no weights, and a bias on the activation's steep
// side. Without a bias, weights of one sign, as what they meet mostly is.
void revive(NamedTensor& rows, bool is_bias, bool has_bias) {
  constexpr float kSteep = 0.1F;
  for (float& x : rows.data) x = is_bias ? kSteep : has_bias ? 0.0F : std::abs(x);
}

}  // namespace

std::string find_classifier(const ModelDescription& model) {
  const auto refuse = [&](const std::string& why) -> Error {
    return Error(ErrorCode::kInvalidArgument,
                 "model \"" + model.name + "\" has no classifier to grow: " + why);
  };
  if (model.outputs.size() != 1)
    throw refuse("it has " + std::to_string(model.outputs.size()) + " outputs");
  const Graph graph = build_graph(model, 1);
  std::vector<const Node*> passed;
  const Node* node = last_weighted(graph, &passed);
  if (node != nullptr && shares_weights(model, node->name))
    throw refuse("layer \"" + node->name + "\" shares its weights with another layer");
  if (node != nullptr && is_classifier(*node)) return node->name;
  if (node != nullptr) throw refuse("layer \"" + node->name + "\" stands behind it");
  const Value& end = passed.empty()
                         ? graph.values[static_cast<std::size_t>(graph.outputs[0])]
                         : graph.values[static_cast<std::size_t>(passed.back()->inputs[0])];
  if (end.producer < 0) throw refuse("no layer with weights feeds its output");
  throw refuse("layer \"" + graph.nodes[static_cast<std::size_t>(end.producer)].name +
               "\" stands behind it");
}

void fold_classifier_norm(ModelDescription& model, WeightMap& weights) {
  if (model.outputs.size() != 1) return;
  const Graph graph = build_graph(model, 1);
  const Node* norm = last_weighted(graph);
  if (norm == nullptr || !layer_traits(norm->type).normalises_over_batch) return;
  const Value& input = graph.values[static_cast<std::size_t>(norm->inputs[0])];
  if (input.producer < 0 || !is_classifier(graph.nodes[static_cast<std::size_t>(input.producer)]))
    return;
  const std::set<std::string> only = {norm->name};
  model = fold_batch_norms(model, weights, &only);
}

std::optional<ClassifierInput> classifier_input(const ModelDescription& model) {
  const std::string name = find_classifier(model);
  const Graph graph = build_graph(model, 1);
  const Node& node = *std::ranges::find(graph.nodes, name, &Node::name);
  if (rows_can_die(graph) || node.weights.size() != 2 || node.weights[1].name != "bias")
    return std::nullopt;
  const Value& read = graph.values[static_cast<std::size_t>(node.inputs.at(0))];
  const Value& made = graph.values[static_cast<std::size_t>(node.outputs.at(0))];
  ClassifierInput input;
  input.value = read.name;
  for (std::size_t i = 1; i < read.info.dims.rank(); ++i) input.dims.push_back(read.info.dims[i]);
  const Dims& rows = node.weights[0].dims;
  input.width = rows.elements_per_sample();
  input.positions = read.info.dims.elements_per_sample() / input.width;
  const bool one_to_one = input.positions * input.width == read.info.dims.elements_per_sample() &&
                          input.positions * rows[0] == made.info.dims.elements_per_sample();
  const bool has_kernel = rows.rank() > 2 && rows.elements_per_sample() != rows[1];
  if (!one_to_one || has_kernel) return std::nullopt;
  input.weight = weight_name(node, node.weights[0]);
  input.bias = weight_name(node, node.weights[1]);
  return input;
}

Dims output_dims(const ModelDescription& model) {
  const Graph graph = build_graph(model, 1);
  return graph.values[static_cast<std::size_t>(graph.outputs.at(0))].info.dims;
}

std::int64_t output_elements(const ModelDescription& model) {
  return output_dims(model).elements();
}

std::int64_t classifier_classes(const ModelDescription& model) {
  ModelDescription copy = model;
  const LayerDescription& layer = layer_named(copy, find_classifier(model));
  return std::get<std::int64_t>(layer.properties.at(rows_property(layer)));
}

void resize_classifier(ModelDescription& model, std::int64_t classes) {
  LayerDescription& layer = layer_named(model, find_classifier(model));
  layer.properties[rows_property(layer)] = classes;
}

std::vector<std::string> input_tables(const ModelDescription& model) {
  std::vector<std::string> tables;
  for (const LayerDescription& layer : model.layers)
    if (layer.type == "embedding" &&
        std::ranges::find(model.inputs, layer.inputs.at(0), &InputDescription::name) !=
            model.inputs.end())
      tables.push_back(layer.name);
  return tables;
}

std::int64_t table_rows(const ModelDescription& model, const std::string& table) {
  const auto layer = std::ranges::find(model.layers, table, &LayerDescription::name);
  return std::get<std::int64_t>(layer->properties.at("rows"));
}

void resize_tables(ModelDescription& model, std::int64_t rows) {
  for (const std::string& table : input_tables(model)) {
    if (table_rows(model, table) >= rows) continue;
    if (shares_weights(model, table))
      throw Error(ErrorCode::kInvalidArgument,
                  "table \"" + table + "\" shares its weights with another layer, so that it " +
                      "cannot have the " + std::to_string(rows) + " rows that are needed");
    layer_named(model, table).properties["rows"] = rows;
  }
}

void grow_classifier(ModelDescription& model, WeightMap& weights, std::int64_t classes,
                     std::uint64_t seed) {
  const std::int64_t before = classifier_classes(model);
  if (classes < before) {
    throw Error(ErrorCode::kInvalidArgument, "a classifier of " + std::to_string(before) +
                                                 " classes cannot shrink to " +
                                                 std::to_string(classes));
  }
  if (classes == before) return;
  const std::string layer = find_classifier(model);
  resize_classifier(model, classes);
  const Graph graph = build_graph(model, 1);
  const bool can_be_born_dead = rows_can_die(graph);
  const auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                 [&](const Node& n) { return n.name == layer; });
  for (const WeightSpec& spec : node->weights) {
    const std::string name = weight_name(*node, spec);
    NamedTensor grown = initial_weight(spec, name, seed);
    if (can_be_born_dead) revive(grown, spec.name == "bias", has_bias(model, layer));
    const auto old = weights.find(name);
    if (old == weights.end())
      throw Error(ErrorCode::kBadData, "the model's weights lack \"" + name + "\"");
    if (old->second.data.size() * static_cast<std::size_t>(classes) !=
        grown.data.size() * static_cast<std::size_t>(before)) {
      throw Error(ErrorCode::kBadData, "weight \"" + name + "\" does not have the " +
                                           std::to_string(before) + " rows of its layer");
    }
    std::copy(old->second.data.begin(), old->second.data.end(), grown.data.begin());
    old->second = std::move(grown);
  }
}

}  // namespace moil
