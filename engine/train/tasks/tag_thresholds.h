// From which probability a tag is said: chosen by what a trained model says of samples.
//
// The threshold is the one with the best F1 of a grid, the nearest to the usual one if several
// are as good. Samples that were trained on flatter the model, and few of them say little: of a
// label that n samples have, the choice counts n / (n + 5) against the threshold it had before, on
// the scale of logits. A label that all of the samples have, or none, keeps its own.
//
// Memory does not grow with the samples. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace moil {

using TagThresholds = std::map<std::uint32_t, double>;  // by label; without one: kUsualThreshold
inline constexpr double kUsualThreshold = 0.5;

[[nodiscard]] double threshold_of(const TagThresholds& thresholds, std::size_t label);

class ThresholdChoice {
 public:
  ThresholdChoice();

  // A probability a label, and whether the sample has it: above 0.5; NaN: not known.
  void add(std::span<const float> probabilities, std::span<const float> target);
  // before: what labels have so far. Rounded to 1e-4.
  [[nodiscard]] TagThresholds result(const TagThresholds& before) const;

 private:
  static constexpr std::size_t kGrid = 49;  // logits from -6 to 6 in steps of 0.25
  // By how many thresholds of the grid say a sample's label.
  struct Counts {
    std::array<std::uint32_t, kGrid + 1> having{}, lacking{};
  };
  [[nodiscard]] double best_logit(const Counts& counts, double usual) const;

  std::array<double, kGrid> grid_{};  // probabilities, rising
  std::vector<Counts> labels_;
};

}  // namespace moil
