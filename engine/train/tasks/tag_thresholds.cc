#include "engine/train/tasks/tag_thresholds.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace moil {
namespace {

constexpr double kStep = 0.25;
constexpr double kSamplesOfTheUsual = 5;

double probability_of(double logit) { return 1 / (1 + std::exp(-logit)); }

// The threshold may be 0 or 1.
double logit_of(double threshold) {
  const double p = std::clamp(threshold, 1e-4, 1 - 1e-4);
  return std::log(p / (1 - p));
}

std::uint32_t sum(std::span<const std::uint32_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint32_t{0});
}

}  // namespace

double threshold_of(const TagThresholds& thresholds, std::size_t label) {
  const auto own = thresholds.find(static_cast<std::uint32_t>(label));
  return own == thresholds.end() ? kUsualThreshold : own->second;
}

ThresholdChoice::ThresholdChoice() {
  const auto middle = static_cast<double>(kGrid / 2);
  for (std::size_t i = 0; i < kGrid; ++i)
    grid_[i] = probability_of(kStep * (static_cast<double>(i) - middle));
}

void ThresholdChoice::add(std::span<const float> probabilities, std::span<const float> target) {
  labels_.resize(probabilities.size());
  for (std::size_t label = 0; label < labels_.size(); ++label) {
    if (std::isnan(target[label])) continue;
    const auto said = static_cast<std::size_t>(
        std::ranges::upper_bound(grid_, double{probabilities[label]}) - grid_.begin());
    Counts& counts = labels_[label];
    ++(target[label] > 0.5F ? counts.having : counts.lacking)[said];
  }
}

double ThresholdChoice::best_logit(const Counts& counts, double usual) const {
  const std::uint32_t all = sum(counts.having);
  double best = -1, found = usual;
  for (std::size_t i = 0; i < kGrid; ++i) {
    const double right = sum(std::span(counts.having).subspan(i + 1)),
                 wrong = sum(std::span(counts.lacking).subspan(i + 1));
    const double f1 = 2 * right / (right + wrong + all), logit = logit_of(grid_[i]);
    const bool is_nearer = std::abs(logit - usual) < std::abs(found - usual);
    if (f1 < best || (f1 == best && !is_nearer)) continue;
    best = f1;
    found = logit;
  }
  return found;
}

TagThresholds ThresholdChoice::result(const TagThresholds& before) const {
  TagThresholds chosen = before;
  for (std::size_t label = 0; label < labels_.size(); ++label) {
    const Counts& counts = labels_[label];
    const double having = sum(counts.having);
    if (having == 0 || sum(counts.lacking) == 0) continue;
    const double usual = logit_of(threshold_of(before, label));
    const double own = best_logit(counts, usual);
    const double share = having / (having + kSamplesOfTheUsual);
    const double threshold = probability_of(usual + share * (own - usual));
    chosen[static_cast<std::uint32_t>(label)] = std::round(threshold * 1e4) / 1e4;
  }
  return chosen;
}

}  // namespace moil
