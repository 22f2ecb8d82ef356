// Training graphs for tests of memory planners: lifetimes as real networks have them, made without
// the engine's own graph code, from the 2024 execution orders alone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/tensor/planner.h"

namespace moil::test {

struct GraphNode {
  enum Kind { kConv, kNorm, kRelu, kAdd, kConcat };
  Kind kind = kConv;
  std::vector<int> inputs;          // earlier nodes; none: reads the model's input
  std::size_t bytes = 0;            // of the output
  std::size_t weight_bytes = 0;     // of the weights: as many again for their gradient
  std::size_t workspace_bytes = 0;  // in each of F, CG and CD
};

struct NamedGraph {
  std::string name;
  std::vector<GraphNode> nodes;
};

// F(i) = i, CG(i) = N + 3(N-1-i), CD = CG + 1, AG = CD + 1: weights and optimizer state always,
// outputs until their last reader, derivatives from their first writer to the layer's CD.
std::vector<MemoryRequest> requests_of(const std::vector<GraphNode>& nodes);

// VGG-16 and ResNet-18 at 32x32, MobileNetV2 at 32x32 and 224x224, an Inception-like net.
std::vector<NamedGraph> known_graphs(std::size_t batch);

// A random graph: every node reads one to three nodes not far before it.
std::vector<GraphNode> random_graph(unsigned seed, int nodes);

// Requests of random sizes and lifetimes, zero bytes and repeated lifetimes among them.
std::vector<MemoryRequest> random_requests(unsigned seed, int count);

}  // namespace moil::test
