// What a night will take of memory, by its parts, told before it begins (docs/memory.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "daemon/night/plan/night_model.h"

namespace moil::night {

struct MemoryForecast {
  // Code and tables of libraries that are touched only after the model is there, kernels compiled
  // for its shapes, the allocator's rounding: up to 10 MiB were seen (docs/memory.md). Also what
  // another processor's driver keeps for itself.
  std::size_t libraries = 16 << 20;
  std::size_t weights = 0;    // that the night itself keeps: of a classifier that grew
  std::size_t samples = 0;    // names, labels and places of all that are known
  std::size_t decoding = 0;   // of samples; counted if they are read: with or without a cache
  std::size_t caching = 0;    // while feature maps are computed, beyond the weights
  std::size_t training = 0;   // while the head trains, or is prepared for it
  std::size_t judging = 0;    // while models are judged
  std::size_t listening = 0;  // while the new version hears what is held out; 0: it does not
  std::size_t trials = 0;  // of the largest trial of settings, its own libraries and samples in it
  std::size_t total() const;
};
// Without a trainer: what the night needs beside training.
[[nodiscard]] MemoryForecast forecast_memory(const NightModel& night, bool cached);
// With what a model of sounds takes while it listens, if the job's budget has room for that.
void add_listening(MemoryForecast& forecast, const NightModel& night, bool cached,
                   const std::optional<std::int64_t>& budget);

}  // namespace moil::night
