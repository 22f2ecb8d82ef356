// What a graph computes by the rules of ONNX, node by node and in doubles: slow, plain, and nothing
// of the importer's. Knows the operators that patterns are made of.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/io/onnx/onnx_graph.h"

namespace moil::onnx {

struct Numbers {
  std::vector<std::int64_t> dims;
  std::vector<double> values;
  bool is_float = true;
};

// The graph is none, or has an operator that is not known here.
class NoRule : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The value of that name. Throws NoRule.
[[nodiscard]] Numbers by_the_rules(const Graph& graph, const std::map<std::string, Numbers>& inputs,
                                   const std::string& output);

}  // namespace moil::onnx
