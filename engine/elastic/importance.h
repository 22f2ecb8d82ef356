// How much each tensor matters now: elastic importance (ElasticTrainer, §3).
//
//   I_k = -Σ_i g_i · (w_new,i - w_old,i)
//
// The update of every tensor is tried, trained at present or not: one step of the optimizer, from
// no state, on a few samples. g is the loss's gradient on the same samples at the new weights, so
// I_k is, to first order, how much the loss would rise if tensor k's update were undone: above 0
// where the update serves, below where it went too far. Tried on copies: the caller's weights,
// optimizer state and batch norms' statistics are not touched.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "engine/train/trainer.h"

namespace moil {

// What the paper compares its importance with (§3.1), from the same probe: Σ|g| and Σ|Δw|.
enum class ImportanceMetric : std::uint8_t { kLoss, kGradient, kUpdate };

// By "LAYER.WEIGHT", of trainable_layers (null: all). Takes the memory of training a batch of that
// size, and the weights once more; frees it. The samples that `indices` name of the source are one
// batch. learning_rate: of the present step. Throws kInvalidArgument for no samples, and what
// Trainer throws.
[[nodiscard]] std::map<std::string, double> tensor_importance(
    const ModelDescription& model, const std::set<std::string>* trainable_layers,
    const TrainerConfig& config, double learning_rate, const WeightMap& weights,
    BatchSource& source, std::span<const std::int64_t> indices, KernelSelector& kernels,
    ImportanceMetric metric = ImportanceMetric::kLoss);

// The network that a probe of so many samples trains, for those who plan before they train.
[[nodiscard]] TrainingPlanInput probe_plan_input(const ModelDescription& model,
                                                 const std::set<std::string>* trainable_layers,
                                                 const TrainerConfig& config, std::int64_t samples);

}  // namespace moil
