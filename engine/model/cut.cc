#include "engine/model/cut.h"

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
  // What nodes up to p give to those behind p: how many, and the sum of their numbers, which is the
  // number of the only one.
  const int nodes = static_cast<int>(graph.nodes.size());
  std::vector<std::int64_t> begin_crossing(graph.nodes.size() + 1), sums(graph.nodes.size() + 1);
  for (int v = 0; v < count; ++v) {
    const int first = std::max(graph.values[static_cast<std::size_t>(v)].producer, 0);
    const int end = std::min(last_readers[static_cast<std::size_t>(v)], nodes);
    if (end <= first) continue;
    ++begin_crossing[static_cast<std::size_t>(first)];
    --begin_crossing[static_cast<std::size_t>(end)];
    sums[static_cast<std::size_t>(first)] += v;
    sums[static_cast<std::size_t>(end)] -= v;
  }
  std::vector<Cut> cuts;
  std::int64_t crossings = 0, crossing = 0;
  for (int p = 0; p < nodes; ++p) {
    crossings += begin_crossing[static_cast<std::size_t>(p)];
    crossing += sums[static_cast<std::size_t>(p)];
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
