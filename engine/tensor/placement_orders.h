// Orders of placement that are known to do well, for the best-fit planner to start from.
#pragma once

#include <span>
#include <vector>

#include "engine/tensor/planner.h"

namespace moil {

using PlacementOrder = std::vector<int>;  // indices of requests, each once

// By lifetime, longest first: lifetimes that nest, as those of activations between forward and
// backward do, are so packed without loss. Then by size, by breadth (the execution orders with most
// live bytes first), by area (size times lifetime), by first order, and by last order from behind.
std::vector<PlacementOrder> known_placement_orders(std::span<const MemoryRequest> requests);

}  // namespace moil
