#include "engine/train/idle_step.h"

#include <algorithm>

#include "engine/train/weight_step.h"

namespace moil {

IdleUpdater::IdleUpdater(const OptimizerConfig& config) : optimizer_(make_optimizer(config)) {}

void IdleUpdater::apply(const WeightUpdate& u) { optimizer_->apply(optimizer_step(u)); }

void fill_inputs_with_zeros(Network& network) {
  for (std::size_t i = 0; i < network.inputs(); ++i)
    std::fill_n(network.input(i), network.input_info(i).dims.elements(), 0.0F);
}

}  // namespace moil
