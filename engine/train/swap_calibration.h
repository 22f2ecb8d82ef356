// What swap needs to know of a machine: how long each execution order computes, and how fast the
// disk is. Measured by some steps on samples of zeros, in the memory that training will have.
#pragma once

#include <set>
#include <string>

#include "engine/train/trainer.h"

namespace moil {

// config.swap is on and has its folder. Allocates, steps and frees; touches no weights of anyone's.
[[nodiscard]] SwapTimes measure_swap_times(const ModelDescription& model,
                                           const std::set<std::string>* trainable_layers,
                                           const TrainerConfig& config, KernelSelector& kernels);

}  // namespace moil
