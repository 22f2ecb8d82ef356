#include "engine/graph/cut.h"

#include <algorithm>

namespace moil {
namespace {

// An input of rank 4 is an image: what lies otherwise cannot be one, and so no cut.
bool can_be_input(const TensorInfo& info) {
  return info.dims.rank() >= 2 && (info.dims.rank() != 4 || info.layout == Layout::kChannelsLast);
}

// The last node that reads the value; behind all of them for an output, -1 for what nobody reads.
int last_reader(const Graph& graph, int v) {
  if (std::ranges::find(graph.outputs, v) != graph.outputs.end())
    return static_cast<int>(graph.nodes.size());
  int last = -1;
  for (const Consumer& c : graph.values[static_cast<std::size_t>(v)].consumers)
    last = std::max(last, c.node);
  return last;
}

}  // namespace

std::vector<Cut> cuts_of(const Graph& graph) {
  const auto count = static_cast<int>(graph.values.size());
  std::vector<int> last_readers;
  for (int v = 0; v < count; ++v) last_readers.push_back(last_reader(graph, v));
  std::vector<Cut> cuts;
  for (int p = 0; p < static_cast<int>(graph.nodes.size()); ++p) {
    // What nodes up to p give to those behind p.
    int crossing = -1, crossings = 0;
    for (int v = 0; v < count; ++v) {
      if (graph.values[static_cast<std::size_t>(v)].producer > p || last_readers[v] <= p) continue;
      crossing = v;
      ++crossings;
    }
    if (crossings != 1) continue;
    const Value& value = graph.values[static_cast<std::size_t>(crossing)];
    if (value.producer == -1 || !can_be_input(value.info)) continue;
    if (!cuts.empty() && cuts.back().value == value.name) continue;
    const auto dims = value.info.dims.values();
    cuts.push_back({value.name, {dims.begin() + 1, dims.end()}, p});
  }
  return cuts;
}

}  // namespace moil
