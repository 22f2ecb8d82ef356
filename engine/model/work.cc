#include "engine/model/work.h"

#include <algorithm>

namespace moil {

namespace {

std::int64_t features_of(const TensorInfo& output) {
  const bool is_image = output.dims.rank() == 4;
  return is_image ? output.dims[1] : output.dims[output.dims.rank() - 1];
}

// How many products an output element is the sum of. A layer may have several matrices, and of one
// several rows for each feature, as gates are. A table's rows are picked.
std::int64_t feeding(const Graph& graph, const Node& node) {
  if (node.type == "embedding") return 1;
  std::int64_t sum = 0;
  for (const WeightSpec& weight : node.weights) {
    if (weight.dims.rank() < 2) continue;
    const std::int64_t rows = weight.dims[0] / features_of(graph.output_infos(node)[0]);
    sum += weight.fan_in * std::max<std::int64_t>(1, rows);
  }
  return std::max<std::int64_t>(1, sum);
}

}  // namespace

std::vector<double> multiply_adds(const Graph& graph) {
  std::vector<double> all;
  for (const Node& node : graph.nodes) {
    std::int64_t outputs = 0;
    for (const TensorInfo& output : graph.output_infos(node)) outputs += output.dims.elements();
    all.push_back(static_cast<double>(outputs) * static_cast<double>(feeding(graph, node)));
  }
  return all;
}

}  // namespace moil
