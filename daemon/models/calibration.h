// Probabilities that mean what they say, and when a model is not sure.
//
// Held-out samples tell both. The temperature (Guo et al., ICML 2017) divides the logits so that
// held-out labels are likeliest; it changes no answer. The threshold is the confidence at which the
// fewest answers are mistaken for what they are not: wrong ones above it, right ones below. At that
// confidence an answer is as often right as wrong. Both sides, global and local, count alike,
// however many samples each has. A model that has one output for each of several classes has both;
// what tags, predicts numbers or ends in sigmoids has none.
//
// A few samples that are all answered right say little of how sure the model may be. So kPrior more
// are added to them, which are like them and of which the model is right as often as it says: the
// fewer samples there are, the nearer the temperature is to 1, and the threshold to a half. (In
// 1 / temperature the likelihood is an exponential family's; this is its conjugate prior.) Below
// kLeastToSharpen samples the temperature is not below 1.
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
  static constexpr double kPrior = 30, kLeastToSharpen = 200;  // samples

  // labels: of the sample, numbers of outputs.
  void add(Side side, std::span<const float> output, OutputForm form,
           std::span<const std::uint32_t> labels);
  // Nothing of fewer than kLeastSamples.
  [[nodiscard]] std::optional<Calibration> result() const;

 private:
  static constexpr std::size_t kTemperatures = 25;  // from 1/4 to 4, each a factor of 2^(1/6)
  static constexpr std::size_t kAsItIs = kTemperatures / 2;  // a temperature of 1
  using ByTemperature = std::array<double, kTemperatures>;
  struct Sample {
    std::array<float, kTemperatures> confidence;
    Side side;
    bool right;
  };
  static double temperature(double at);
  static ByTemperature shares_of(double x);
  double weight(Side side) const;
  double evidence() const;
  std::size_t best() const;
  double threshold(std::size_t at) const;

  std::vector<Sample> samples_;
  // Sums, by side: of the labels, and of labels as likely as the model says they are.
  std::array<ByTemperature, 2> losses_{}, own_losses_{};
  std::array<std::size_t, 2> counts_{};
};

}  // namespace moil::night
