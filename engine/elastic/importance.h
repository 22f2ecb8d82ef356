// How much each tensor matters now: elastic importance (ElasticTrainer, §3).
//
//   I_k = -Σ_i g_i · (w_new,i - w_old,i)
//
// The update of every tensor is tried, trained at present or not: one step of the optimizer, from
// no state, on a few samples. g is the loss's gradient on the same samples at the new weights, so
// I_k is, to first order, how much the loss would rise if tensor k's update were undone: above 0
// if the update serves, below if it went too far (if it made no number, as far below as
// can be, of every metric). Tried on copies: the caller's weights, optimizer state and batch norms'
// statistics are not touched.
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

// Planned once, for batches of so many samples; has memory only while it measures: that of training
// such a batch.
class ImportanceProbe {
 public:
  // trainable_layers null: all. Throws kInvalidArgument for less than a sample, and what Trainer
  // throws.
  ImportanceProbe(const ModelDescription& model, const std::set<std::string>* trainable_layers,
                  const TrainerConfig& config, std::int64_t samples, KernelSelector& kernels);

  // Importance by "LAYER.WEIGHT". learning_rate: of the present step. indices: as many samples of
  // the source as it was planned for (kInvalidArgument).
  [[nodiscard]] std::map<std::string, double> measure(
      const WeightMap& weights, double learning_rate, BatchSource& source,
      std::span<const std::int64_t> indices, ImportanceMetric metric = ImportanceMetric::kLoss);

  std::int64_t samples() const { return samples_; }
  // What its network takes.
  std::size_t planned_bytes() const { return network_.plan().memory.total_bytes; }

 private:
  TrainerConfig config_;
  std::int64_t samples_;
  Network network_;
};

}  // namespace moil
