#include "engine/model/work.h"

#include <algorithm>

namespace moil {

std::vector<double> multiply_adds(const Graph& graph) {
  std::vector<double> all;
  for (const Node& node : graph.nodes) {
    std::int64_t outputs = 0, feeding = 1;
    for (const TensorInfo& output : graph.output_infos(node)) outputs += output.dims.elements();
    for (const WeightSpec& weight : node.weights)
      if (weight.dims.rank() > 1) feeding = std::max(feeding, weight.fan_in);
    all.push_back(static_cast<double>(outputs) * static_cast<double>(feeding));
  }
  return all;
}

}  // namespace moil
