#include "engine/train/idle_step.h"

#include <algorithm>

namespace moil {

IdleUpdater::IdleUpdater(const OptimizerConfig& config) : optimizer_(make_optimizer(config)) {}

void IdleUpdater::apply(const WeightUpdate& u) {
  optimizer_->apply({u.weight, u.gradient, u.states, u.elements, u.decays, /*learning_rate=*/0,
                     /*gradient_scale=*/1, /*step=*/1, u.elsewhere});
}

void fill_inputs_with_zeros(Network& network) {
  for (std::size_t i = 0; i < network.inputs(); ++i)
    std::fill_n(network.input(i), network.input_info(i).dims.elements(), 0.0F);
}

}  // namespace moil
