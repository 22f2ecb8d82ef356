// The head of a model as it answers: folded and fused, planned for batches of 16. Training has a
// network of its own. One thread at a time.
#pragma once

#include "daemon/models/model_weights.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/run/network.h"
#include "engine/train/task.h"

namespace moil::night {

class HeadNetwork {
 public:
  // head: from the split to the model's output. Planned, not allocated; `kernels` must outlive it.
  HeadNetwork(const ModelDescription& head, KernelSelector& kernels);

  // Before the first forward.
  void allocate(const WeightsOfPart& weights);
  Network& network() { return network_; }
  OutputForm form() const { return form_; }
  // The most that it takes, its weights while they are brought included.
  std::size_t peak_bytes() const { return network_.peak_bytes(); }

 private:
  ModelDescription head_;
  OutputForm form_;
  Network network_;
};

}  // namespace moil::night
