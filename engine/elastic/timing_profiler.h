// Measures a timing profile with the engine's own steps (ElasticTrainer, §4.1).
#pragma once

#include <set>
#include <string>

#include "engine/elastic/timing_profile.h"
#include "engine/train/trainer.h"

namespace moil {

// Medians of so many steps of training all of trainable_layers (null: all), and of more until
// `seconds` have passed, on copies of the weights and batches of zeros. Allocates the memory of
// that training meanwhile. A layer's gradient is shared among its weights by their elements. Throws
// what Trainer and Network throw.
[[nodiscard]] TimingProfile measure_timing(const ModelDescription& model,
                                           const std::set<std::string>* trainable_layers,
                                           const TrainerConfig& config, const WeightMap& weights,
                                           KernelSelector& kernels, int steps = 7,
                                           double seconds = 2);

}  // namespace moil
