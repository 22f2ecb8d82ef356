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

#include <map>
#include <set>
#include <span>
#include <string>

#include "engine/train/trainer.h"

namespace moil {

// As many samples as are given are one batch.
struct ProbeBatch {
  std::span<const float> inputs;   // [samples, features...]
  std::span<const float> targets;  // [samples, classes...], as the loss takes them
  std::int64_t samples = 0;
};

// By "LAYER.WEIGHT", of trainable_layers (null: all). Takes the memory of training a batch of that
// size, and the weights once more; frees it. learning_rate: of the present step. Throws
// kInvalidArgument where the batch's sizes are not the model's, and what Trainer throws.
[[nodiscard]] std::map<std::string, double> tensor_importance(
    const ModelDescription& model, const std::set<std::string>* trainable_layers,
    const TrainerConfig& config, double learning_rate, const WeightMap& weights,
    const ProbeBatch& batch, KernelSelector& kernels);

}  // namespace moil
