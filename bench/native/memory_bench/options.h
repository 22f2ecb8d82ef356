// What memory_bench is asked to train, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "engine/tensor/residency.h"

namespace moil {

struct BenchOptions {
  std::string model;
  std::string loss = "softmax_cross_entropy";
  std::int64_t batch = 64;
  std::optional<int> trainable_layers;  // all if empty
  std::string frozen_layer;             // one that is not trained; none if empty
  double clip_norm = 0;                 // 0: gradients are not clipped
  int iterations = 5;
  int threads = 0;
  std::size_t again_bytes = 0;  // outputs are made again until the pool takes this; 0: none
  std::size_t budget_bytes = 0;
  SwapOptions swap;
  std::filesystem::path swap_folder;
  std::filesystem::path samples;  // of each the first input and the target; random if empty
  bool measured = false;          // swap by measured times
  std::filesystem::path profile;  // kernels that were measured before, and are now; none if empty
};

}  // namespace moil
