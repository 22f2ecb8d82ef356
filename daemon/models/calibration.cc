#include "daemon/models/calibration.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json/json.h"

namespace moil::night {
namespace {

constexpr float kLeastProbability = 1e-30F;

// Natural logarithms of what is proportional to probabilities.
void to_logits(std::span<float> output, OutputForm form) {
  if (!form.probabilities) return;
  for (float& x : output) x = std::log(std::max(x, kLeastProbability));
}

double number(const nlohmann::json& json, const char* name, double least, double most) {
  const auto it = json.is_object() ? json.find(name) : json.end();
  if (it == json.end() || !it->is_number() || !(*it >= least) || !(*it <= most))
    throw Error(ErrorCode::kBadData,
                "calibration.json: \"" + std::string(name) + "\" must be a number from " +
                    nlohmann::json(least).dump() + " to " + nlohmann::json(most).dump());
  return it->get<double>();
}

}  // namespace

nlohmann::json to_json(const Calibration& calibration) {
  return {{"temperature", calibration.temperature},
          {"not_sure_below", calibration.not_sure_below},
          {"held_out", calibration.held_out}};
}

Calibration calibration_from_json(const nlohmann::json& json) {
  Calibration calibration;
  calibration.temperature = number(json, "temperature", 1e-3, 1e3);
  calibration.not_sure_below = number(json, "not_sure_below", 0, 1);
  calibration.held_out = static_cast<std::size_t>(number(json, "held_out", 0, 1e12));
  return calibration;
}

void temper(std::span<float> output, OutputForm form, double temperature) {
  to_logits(output, form);
  for (float& x : output) x = static_cast<float>(double{x} / temperature);
  if (!form.probabilities || output.empty()) return;
  const float most = *std::ranges::max_element(output);
  double sum = 0;
  for (float& x : output) sum += double{x = std::exp(x - most)};
  for (float& x : output) x = static_cast<float>(double{x} / sum);
}

double Calibrator::temperature(double at) {
  return std::exp2((at - (kTemperatures - 1) / 2.0) / 6);
}

// exp(x / temperature) at each of them. Six steps halve the temperature, so that most of them are
// the square of one that is known.
Calibrator::ByTemperature Calibrator::shares_of(double x) {
  constexpr std::size_t kHalving = 6, kWarm = kTemperatures - kHalving;
  static const auto kCold = [] {
    std::array<double, kHalving> cold;
    for (std::size_t i = 0; i < kHalving; ++i)
      cold[i] = 1 / temperature(static_cast<double>(kWarm + i));
    return cold;
  }();
  ByTemperature shares;
  for (std::size_t t = kTemperatures; t-- > kWarm;) shares[t] = std::exp(x * kCold[t - kWarm]);
  for (std::size_t t = kWarm; t-- > 0;) shares[t] = shares[t + kHalving] * shares[t + kHalving];
  return shares;
}

void Calibrator::add(Side side, std::span<const float> output, OutputForm form,
                     std::span<const std::uint32_t> labels) {
  std::vector<float> logits(output.begin(), output.end());
  to_logits(logits, form);
  const auto likeliest =
      static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin());
  const double most = double{logits[likeliest]};
  const auto is_label = [&](std::size_t k) {
    return std::ranges::find(labels, static_cast<std::uint32_t>(k)) != labels.end();
  };
  ByTemperature all{}, own{};
  double logit = 0;  // that the model expects of a label, less the highest
  for (std::size_t k = 0; k < logits.size(); ++k) {
    const double x = double{logits[k]} - most;
    const auto shares = shares_of(x);
    for (std::size_t t = 0; t < kTemperatures; ++t) all[t] += shares[t];
    logit += shares[kAsItIs] * x;
    if (is_label(k))
      for (std::size_t t = 0; t < kTemperatures; ++t) own[t] += shares[t];
  }
  logit /= all[kAsItIs];
  Sample sample{{}, side, is_label(likeliest)};
  const auto of = static_cast<std::size_t>(side);
  for (std::size_t t = 0; t < kTemperatures; ++t) {
    sample.confidence[t] = static_cast<float>(1 / all[t]);
    losses_[of][t] -= std::log(std::max(own[t] / all[t], double{kLeastProbability}));
    own_losses_[of][t] += std::log(all[t]) - logit / temperature(static_cast<double>(t));
  }
  samples_.push_back(sample);
  ++counts_[static_cast<std::size_t>(side)];
}

double Calibrator::weight(Side side) const {
  return 1 / static_cast<double>(counts_[static_cast<std::size_t>(side)]);
}

// How many samples of one weight tell as much (Kish's effective sample size).
double Calibrator::evidence() const {
  double sides = 0, squares = 0;
  for (const Side side : {Side::kGlobal, Side::kLocal}) {
    if (counts_[static_cast<std::size_t>(side)] == 0) continue;
    ++sides;
    squares += weight(side);
  }
  return sides * sides / squares;
}

std::size_t Calibrator::best() const {
  const double prior = kPrior / evidence();
  ByTemperature loss{};
  for (const Side side : {Side::kGlobal, Side::kLocal}) {
    const auto of = static_cast<std::size_t>(side);
    for (std::size_t t = 0; t < kTemperatures && counts_[of] > 0; ++t)
      loss[t] += (losses_[of][t] + prior * own_losses_[of][t]) * weight(side);
  }
  const auto sharpest = loss.begin() + (evidence() < kLeastToSharpen ? kAsItIs : 0);
  return static_cast<std::size_t>(std::min_element(sharpest, loss.end()) - loss.begin());
}

// Halfway between the confidence of the last answer below it and of the first above.
double Calibrator::threshold(std::size_t at) const {
  const double prior = kPrior / evidence();
  std::vector<std::pair<float, double>> answers;  // confidence; the weight of right less wrong
  for (const Sample& s : samples_) {
    const double said = 2 * double{s.confidence[at]} - 1;
    answers.emplace_back(s.confidence[at], ((s.right ? 1 : -1) + prior * said) * weight(s.side));
  }
  std::ranges::sort(answers);
  double right_less_wrong = 0, fewest = 0, found = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    right_less_wrong += answers[i].second;
    const bool is_last = i + 1 == answers.size();
    if (!is_last && answers[i + 1].first == answers[i].first) continue;
    if (right_less_wrong > fewest - 1e-12) continue;
    fewest = right_less_wrong;
    found = is_last ? 1 : (double{answers[i].first} + double{answers[i + 1].first}) / 2;
  }
  return found;
}

std::optional<Calibration> Calibrator::result() const {
  if (samples_.size() < kLeastSamples) return std::nullopt;
  const std::size_t at = best();
  return Calibration{temperature(static_cast<double>(at)), threshold(at), samples_.size()};
}

}  // namespace moil::night
