// Training steps that are only timed: batches of zeros, updates that change nothing.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/run/network.h"
#include "engine/train/optimizer.h"

namespace moil {

// Takes the time of the optimizer's updates, at a learning rate of 0.
class IdleUpdater : public WeightUpdater {
 public:
  explicit IdleUpdater(const OptimizerConfig& config);
  void gradient_ready(const WeightUpdate&) override {}
  void all_gradients_ready() override {}
  void apply(const WeightUpdate& update) override;

 private:
  std::unique_ptr<Optimizer> optimizer_;
};

void fill_inputs_with_zeros(Network& network);

}  // namespace moil
