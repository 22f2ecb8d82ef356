// Importance sampling: an epoch shows the samples from which there is most to learn more often, and
// weights make up for it, so that the expected gradient stays that of all samples
// (Katharopoulos and Fleuret, "Not All Samples Are Created Equal", 2018).
//
// A sample is drawn in proportion to a bound of its gradient's norm. The bound costs no forward
// pass of its own: it is the one of the step that showed the sample last. What is stale makes the
// gradient noisier, never biased.
//
// The same bounds in the same order give the same draws on every machine. Not thread-safe.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

namespace moil::data {

class ImportanceSampler {
 public:
  ImportanceSampler(std::size_t samples, std::uint64_t seed);

  // As many samples as there are, some of them several times, shuffled, by the bounds that are
  // known now; the first epoch is epoch_order(). An epoch that was begun before gives the same
  // draw again.
  [[nodiscard]] std::vector<std::size_t> epoch(std::int64_t epoch);
  // One a sample, of the epoch that was drawn last: 1 / (samples * probability).
  const std::vector<float>& weights() const { return weights_; }

  // What a step saw: not negative; what is not finite is left out.
  void see(std::size_t sample, float bound);

  // By what the gradient's variance falls, by the bounds that are known now: 1 is nothing.
  [[nodiscard]] double gain() const;

  // All that a resumed run needs.
  [[nodiscard]] nlohmann::json state() const;
  // Throws if it is not of so many samples.
  void restore(const nlohmann::json& state);

 private:
  std::vector<double> probabilities(const std::vector<float>& bounds) const;

  std::uint64_t seed_;
  std::int64_t epoch_ = -1;          // that was drawn last
  std::vector<float> bounds_;        // negative: not seen yet
  std::vector<float> drawn_bounds_;  // as they were when the epoch was drawn
  std::vector<float> weights_;
};

}  // namespace moil::data
