// What the backward pass has to do for the weights that are trained.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/model/graph.h"

namespace moil {

struct BackwardNeeds {
  std::vector<std::vector<bool>> trained;  // by node and weight
  std::vector<bool> derivative;            // by value: something trained lies before it

  bool gradient(int node) const;
  bool derivative_of_inputs(const Node& node) const;
};

// trainable: "LAYER.WEIGHT". Throws kInvalidArgument for one that no layer has.
[[nodiscard]] BackwardNeeds backward_needs(const Graph& graph,
                                           const std::set<std::string>& trainable);

}  // namespace moil
