// Probabilities that mean what they say, and when a model is not sure.
//
// Held-out samples tell both. The temperature (Guo et al., ICML 2017) divides the logits so that
// held-out labels are likeliest; it changes no answer. The threshold is the confidence at which the
// fewest answers are mistaken for what they are not: wrong ones above it, right ones below. At that
// confidence an answer is as often right as wrong. Both sides, global and local, count alike,
// however many samples each has. A model that has one output for each of several classes has both;
// what tags, predicts numbers or ends in sigmoids has none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "engine/train/task.h"

namespace moil::night {

struct Calibration {
  double temperature = 1;
  double not_sure_below = 0;  // of the likeliest label's probability
  std::size_t held_out = 0;   // samples that told it
  bool operator==(const Calibration&) const = default;
};

// calibration.json of a model's folder.
[[nodiscard]] nlohmann::json to_json(const Calibration& calibration);
// kBadData for what is none.
[[nodiscard]] Calibration calibration_from_json(const nlohmann::json& json);

// Outputs as they are with the temperature, in their form.
void temper(std::span<float> output, OutputForm form, double temperature);

// Takes what a model says of held-out samples. One thread.
class Calibrator {
 public:
  enum class Side : std::uint8_t { kGlobal, kLocal };
  static constexpr std::size_t kLeastSamples = 20;

  // labels: of the sample, numbers of outputs.
  void add(Side side, std::span<const float> output, OutputForm form,
           std::span<const std::uint32_t> labels);
  // Nothing of fewer than kLeastSamples.
  [[nodiscard]] std::optional<Calibration> result() const;

 private:
  static constexpr std::size_t kTemperatures = 25;  // from 1/4 to 4, each a factor of 2^(1/6)
  struct Sample {
    std::array<float, kTemperatures> confidence;
    Side side;
    bool right;
  };
  static double temperature(double at);
  static std::array<double, kTemperatures> shares_of(double x);
  double weight(Side side) const;
  std::size_t best() const;
  double threshold(std::size_t at) const;

  std::vector<Sample> samples_;
  std::array<std::array<double, kTemperatures>, 2> losses_{};  // sums, by side
  std::array<std::size_t, 2> counts_{};
};

}  // namespace moil::night
