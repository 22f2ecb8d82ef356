#include "engine/model/freeze.h"

#include <algorithm>
#include <map>

#include "engine/layers/traits.h"
#include "engine/model/cut.h"
#include "engine/model/graph.h"
#include "engine/model/realizers/realizers.h"
#include "engine/model/surgery.h"

namespace moil {
namespace {

bool owns_trainable_weights(const Node& node) {
  return std::any_of(node.weights.begin(), node.weights.end(),
                     [](const WeightSpec& w) { return w.trainable; });
}

// Node indices of each unit.
std::vector<std::vector<int>> units_of(const Graph& graph) {
  std::vector<std::vector<int>> units;
  std::map<int, std::size_t> unit_of_node;
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i) {
    const Node& node = graph.nodes[static_cast<std::size_t>(i)];
    if (!owns_trainable_weights(node)) continue;
    const int source =
        node.inputs.empty() ? -1 : graph.values[static_cast<std::size_t>(node.inputs[0])].producer;
    const auto unit = unit_of_node.find(source);
    const auto is_norm = [](const Node& n) { return layer_traits(n.type).normalises_over_batch; };
    const bool follows = is_norm(node) && unit != unit_of_node.end() &&
                         !is_norm(graph.nodes[static_cast<std::size_t>(source)]);
    if (follows) {
      units[unit->second].push_back(i);
    } else {
      unit_of_node[i] = units.size();
      units.push_back({i});
    }
  }
  return units;
}

// Cutting behind a dropout that follows the last frozen weights would freeze its one draw.
int first_draw_after(const Graph& graph, int node, int limit) {
  for (int i = node + 1; i < limit; ++i) {
    if (layer_traits(graph.nodes[static_cast<std::size_t>(i)].type).draws) return i;
  }
  return limit;
}

}  // namespace

std::vector<std::vector<std::string>> weight_units(const ModelDescription& model) {
  const Graph graph = build_graph(realize_pruning(model), 1);
  std::vector<std::vector<std::string>> names;
  for (const auto& unit : units_of(graph)) {
    auto& list = names.emplace_back();
    for (const int i : unit) list.push_back(graph.nodes[static_cast<std::size_t>(i)].name);
  }
  return names;
}

Freeze freeze_all_but_last(const ModelDescription& model, std::optional<int> n) {
  const Graph graph = build_graph(realize_pruning(model), 1);
  const auto units = units_of(graph);
  Freeze freeze;
  freeze.total_units = static_cast<int>(units.size());
  freeze.trained_units = std::clamp(n.value_or(freeze.total_units), 0, freeze.total_units);
  const auto frozen = static_cast<std::size_t>(freeze.total_units - freeze.trained_units);
  int first_trained = static_cast<int>(graph.nodes.size());
  for (std::size_t u = frozen; u < units.size(); ++u) {
    for (const int i : units[u]) {
      freeze.trainable_layers.insert(graph.nodes[static_cast<std::size_t>(i)].name);
      first_trained = std::min(first_trained, i);
    }
  }
  if (frozen == 0) return freeze;
  int last_frozen = -1;
  for (std::size_t u = 0; u < frozen; ++u) {
    for (const int i : units[u]) {
      if (i < first_trained) last_frozen = std::max(last_frozen, i);
    }
  }
  const int limit = first_draw_after(graph, last_frozen, first_trained);
  for (const Cut& cut : cuts_of(graph)) {
    if (cut.last_node >= limit) break;
    freeze.split = cut.value;
    freeze.split_dims = cut.dims;
  }
  return freeze;
}

void train_tables(const ModelDescription& model, Freeze& freeze) {
  if (freeze.trained_units == 0) return;
  for (const std::string& table : input_tables(model)) {
    if (freeze.trainable_layers.insert(table).second) ++freeze.trained_units;
    freeze.split.clear();
    freeze.split_dims.clear();
  }
}

void freeze_batch_norms(const ModelDescription& model, Freeze& freeze) {
  for (const LayerDescription& layer : model.layers)
    if (layer_traits(layer.type).normalises_over_batch) freeze.trainable_layers.erase(layer.name);
}

}  // namespace moil
