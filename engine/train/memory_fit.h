// Fitting training into a memory budget: by smaller micro-batches, by making outputs again instead
// of keeping them (plan/again.h), which costs a part of F, or by swap, which costs transfers and
// wears flash.
//
// Plans with the leanest kernels and measures nothing; a Trainer made with the result needs no more
// than planned_bytes. Pure, but for what the kernel selector remembers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/train/trainer.h"

namespace moil {

struct FitOptions {
  std::size_t budget_bytes = 0;  // of the pool and the batches being read ahead
  bool may_swap = false;         // TrainerConfig::swap_folder must be set
  std::int64_t steps = 0;        // of the whole training, for the bytes written
  std::optional<std::uint64_t> max_write_bytes = {};  // of the whole training
};

struct MemoryFit {
  TrainerConfig config;           // with micro_batch, again, swap and memory_budget_bytes set
  std::size_t planned_bytes = 0;  // the pool at most, and the batches being read ahead
  std::size_t prefetch_bytes = 0;
  bool mixes_samples = false;  // then the batch stays whole
  SwapTraffic traffic;         // of one step
  std::uint64_t write_bytes(std::int64_t steps) const {
    return traffic.written_bytes * static_cast<std::uint64_t>(steps);
  }
};

// What training needs as it is configured.
[[nodiscard]] MemoryFit plan_training(const ModelDescription& model,
                                      const std::set<std::string>* trainable_layers,
                                      const TrainerConfig& config, KernelSelector& kernels);

// The configurations that fit, at least one: whole batches; else smaller ones, and whole ones with
// outputs made again by a forecast; else with swap. If micro_batch or swap is set, it is kept as it
// is. Throws kInvalidArgument with both numbers if nothing fits, or only with more bytes written
// than may be.
[[nodiscard]] std::vector<MemoryFit> fits_of_training(const ModelDescription& model,
                                                      const std::set<std::string>* trainable_layers,
                                                      const TrainerConfig& config,
                                                      const FitOptions& options,
                                                      KernelSelector& kernels);
// The first of them.
[[nodiscard]] MemoryFit fit_training(const ModelDescription& model,
                                     const std::set<std::string>* trainable_layers,
                                     const TrainerConfig& config, const FitOptions& options,
                                     KernelSelector& kernels);

// Steps of each of the configurations on zeros: the one whose samples take the least time. What is
// made again is chosen anew, by what F takes there. Allocates one network after the other.
[[nodiscard]] TrainerConfig fastest_of(const ModelDescription& model,
                                       const std::set<std::string>* trainable_layers,
                                       const std::vector<MemoryFit>& fits, std::size_t budget_bytes,
                                       KernelSelector& kernels);

// A configuration that was fitted with swap, now with its transfers as they were measured
// (config.swap.times). Other windows make another layout; the swap's budget is lowered until that
// fits, too. Nothing if none does.
[[nodiscard]] std::optional<TrainerConfig> refit_swap(const ModelDescription& model,
                                                      const std::set<std::string>* trainable_layers,
                                                      const TrainerConfig& config,
                                                      std::size_t budget_bytes,
                                                      KernelSelector& kernels);

// Throws kInvalidArgument with both numbers if a training would write more to its swap file than
// it may.
void check_swap_writes(std::uint64_t bytes, std::optional<std::uint64_t> max_write_bytes);

}  // namespace moil
