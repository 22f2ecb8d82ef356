// Where a graph can be cut in two: values that everything behind them is computed from alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/graph.h"

namespace moil {

struct Cut {
  std::string value;
  std::vector<std::int64_t> dims;  // of one sample
  int last_node = 0;               // of those before it; it is computed there
};

// In the order in which they are computed: those that may be the input of a network of its own. The
// graph's inputs are none of them. A pure function.
[[nodiscard]] std::vector<Cut> cuts_of(const Graph& graph);

}  // namespace moil
