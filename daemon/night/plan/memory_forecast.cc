#include "daemon/night/plan/memory_forecast.h"

#include <algorithm>

#include "featurecache/cache.h"

namespace moil::night {

std::size_t MemoryForecast::total() const {
  return std::max(libraries + weights + samples + std::max({caching, training, judging, listening}),
                  trials);
}

namespace {

constexpr std::size_t kCacheReader = 2 * cache::kMostResidentBytes;  // it counts now and then

// The head's weights are brought one after the other, trained, and written one after the other;
// before elastic training a copy of all lies beside the training that is timed.
std::size_t training_bytes(const NightModel& night) {
  if (!night.trainer) return 0;
  const std::size_t planned = night.trainer->planned_bytes();
  const std::size_t timing = night.elastic ? planned + night.head_bytes : 0;
  return std::max({planned, night.trainer->network().peak_bytes_each(), timing});
}

}  // namespace

MemoryForecast forecast_memory(const NightModel& night, bool cached) {
  constexpr std::size_t kBytesOfASample = 256;  // 145 were seen
  constexpr std::size_t kBytesOfAnId =
      2 * 96;  // its text and its place, before and after the night
  constexpr std::size_t kCacheWriter = 12 << 20;  // LMDB's dirty pages of a batch, and the batch
  const std::size_t elements = night.backbone->feature_elements();
  const auto batch = static_cast<std::size_t>(night.backbone->batch());
  const std::size_t computing =
      night.backbone->peak_bytes() +
      batch * (night.backbone->input_elements() + elements) * sizeof(float) + night.decoding_room;
  const std::size_t mapped = cached ? kCacheReader : 0;
  const std::size_t source = cached ? mapped : computing;
  MemoryForecast forecast;
  forecast.libraries += night.driver_bytes;
  forecast.samples = night.known_samples * kBytesOfASample;
  if (night.bundle.kind->can_learn_symbols())
    forecast.samples += static_cast<std::size_t>(night.bundle.kind->symbols()) * kBytesOfAnId;
  forecast.decoding = night.decoding_room;
  forecast.weights = night.bundle.weights.changed_bytes();
  forecast.caching = cached ? computing + mapped + kCacheWriter : 0;
  forecast.training = std::max(training_bytes(night), night.choosing_bytes) + source;
  forecast.judging = std::max(night.judging_bytes, night.imprint_bytes) + source;
  if (night.judges_while_training) forecast.judging += training_bytes(night);
  return forecast;
}

// The whole network for one sample, beside the night's backbone if that is still there.
void add_listening(MemoryForecast& forecast, const NightModel& night, bool cached,
                   const std::optional<std::int64_t>& budget) {
  if (!night.bundle.kind->streams() || !night.bundle.task->outputs_are_labels()) return;
  const std::size_t backbone = night.backbone->peak_bytes();
  forecast.listening = backbone + night.head_bytes + night.judging_bytes + night.decoding_room;
  forecast.listening += cached ? kCacheReader : backbone;
  if (budget && forecast.total() > static_cast<std::size_t>(*budget)) forecast.listening = 0;
}

}  // namespace moil::night
