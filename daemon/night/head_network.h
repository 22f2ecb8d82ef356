// The head of a model as it answers: folded and fused, planned for batches of 16. Training has a
// network of its own. One thread at a time.
#pragma once

#include "engine/device/kernel_selector.h"
#include "engine/graph/model_description.h"
#include "engine/graph/network.h"

namespace moil::night {

class HeadNetwork {
 public:
  // head: from the split to the model's output; its weights are among `all`. Planned, not
  // allocated; `kernels` must outlive it.
  HeadNetwork(const ModelDescription& head, const WeightMap& all, KernelSelector& kernels);

  // Before the first forward.
  void allocate();
  Network& network() { return network_; }
  bool answers_probabilities() const { return answers_probabilities_; }  // or logits
  // Of the plan and of the weights as they are loaded.
  std::size_t bytes() const;

 private:
  bool answers_probabilities_;
  WeightMap weights_;
  Network network_;
};

}  // namespace moil::night
