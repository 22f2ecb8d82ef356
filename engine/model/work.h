// How much arithmetic a network is: multiply-adds of a forward pass, to weigh parts of it by.
#pragma once

#include <vector>

#include "engine/model/graph.h"

namespace moil {

// What each node takes for the graph's batch: an output element of a layer with weights takes as
// many as feed it, one of any other layer one. A pure function.
[[nodiscard]] std::vector<double> multiply_adds(const Graph& graph);

}  // namespace moil
