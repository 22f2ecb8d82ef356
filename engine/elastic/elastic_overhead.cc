#include "engine/elastic/elastic_overhead.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/seconds.h"

namespace moil {
namespace {

constexpr double kMostOverhead = 0.1;  // of a step's share

}  // namespace

double read_seconds(BatchSource& source, std::span<const std::int64_t> samples,
                    std::span<float> inputs, std::span<float> targets) {
  std::array<double, 3> runs{};
  for (double& seconds : runs) {
    const auto start = std::chrono::steady_clock::now();
    source.read(samples, inputs.data(), targets.data());
    seconds = seconds_since(start);
  }
  std::ranges::sort(runs);
  return runs[1];
}

double allowed_step_seconds(const TimingProfile& profile, const ElasticOverhead& overhead,
                            double speedup_ratio, std::int64_t steps) {
  const double share = speedup_ratio * profile.step;
  // Full training reads, too: as much as ρ gives back.
  const double beside =
      (1 - speedup_ratio) * overhead.read + overhead.choose / static_cast<double>(steps);
  return share - std::min(beside, kMostOverhead * share);
}

double smallest_share(const TimingProfile& profile, const ElasticOverhead& overhead,
                      double smallest_ratio, std::int64_t steps) {
  const double beside = overhead.read + overhead.choose / static_cast<double>(steps);
  return std::min(smallest_ratio / (1 - kMostOverhead), smallest_ratio + beside / profile.step);
}

}  // namespace moil
