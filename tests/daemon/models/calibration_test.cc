#include "daemon/models/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/json/json.h"
#include "base/random.h"

namespace moil::night {
namespace {

using Side = Calibrator::Side;
constexpr OutputForm kLogits{false}, kProbabilities{true};

std::vector<float> softmax(std::vector<float> x) {
  temper(x, kLogits, 1);
  double sum = 0;
  for (float& v : x) sum += double{v = std::exp(v)};
  for (float& v : x) v = static_cast<float>(double{v} / sum);
  return x;
}

// Samples whose labels are drawn by what a model says at temperature 1, told `factor` too loudly.
class LoudModel {
 public:
  LoudModel(double factor, OutputForm form) : factor_(factor), form_(form) {}

  void draw() {
    output.clear();
    for (int k = 0; k < 6; ++k) output.push_back(static_cast<float>(4 * random_.unit()));
    const std::vector<float> chances = softmax(output);
    double left = random_.unit();
    label = 0;
    while (label < 5 && (left -= double{chances[label]}) > 0) ++label;
    for (float& x : output) x = static_cast<float>(double{x} * factor_);
    if (form_.probabilities) output = softmax(output);
  }
  Calibration told_by(std::size_t samples) {
    Calibrator calibrator;
    for (std::size_t i = 0; i < samples; ++i) {
      draw();
      calibrator.add(i % 10 == 0 ? Side::kLocal : Side::kGlobal, output, form_, {&label, 1});
    }
    return calibrator.result().value();
  }

  std::vector<float> output;
  std::uint32_t label = 0;

 private:
  const double factor_;
  const OutputForm form_;
  Random random_{11};
};

Calibration of_loud_model(double factor, OutputForm form, std::size_t samples = 3000) {
  return LoudModel(factor, form).told_by(samples);
}

// The expected calibration error of samples that are drawn anew: how far what is said lies from how
// often it is right, in ten bins of the confidence.
double calibration_error(LoudModel model, double temperature) {
  constexpr std::size_t kBins = 10, kSamples = 20000;
  std::array<double, kBins> right_less_said{};
  for (std::size_t i = 0; i < kSamples; ++i) {
    model.draw();
    temper(model.output, kLogits, temperature);
    const std::vector<float> chances = softmax(model.output);
    const auto most = std::ranges::max_element(chances);
    const auto bin = std::min(kBins - 1, static_cast<std::size_t>(10 * double{*most}));
    const bool is_right = static_cast<std::uint32_t>(most - chances.begin()) == model.label;
    right_less_said[bin] += (is_right ? 1 : 0) - double{*most};
  }
  double sum = 0;
  for (const double bin : right_less_said) sum += std::abs(bin);
  return sum / kSamples;
}

TEST(Calibration, FindsHowMuchTooLoudAModelIs) {
  for (const double factor : {0.5, 1.0, 2.0}) {
    EXPECT_NEAR(of_loud_model(factor, kLogits).temperature, factor, 0.15 * factor);
    EXPECT_NEAR(of_loud_model(factor, kProbabilities).temperature, factor, 0.15 * factor);
  }
}

TEST(Calibration, TemperedProbabilitiesAddUpToOneAndKeepTheirOrder) {
  std::vector<float> p = {0.7F, 0.2F, 0.1F, 0.0F};
  temper(p, kProbabilities, 2);
  EXPECT_NEAR(p[0] + p[1] + p[2] + p[3], 1, 1e-6);
  EXPECT_NEAR(p[0] / p[1], std::sqrt(3.5), 1e-5);
  EXPECT_GT(p[0], p[1]);
  EXPECT_GT(p[1], p[2]);
}

// Two labels; the confidence is the logistic function of the distance.
void answer(Calibrator& calibrator, double confidence, bool right, Side side = Side::kGlobal) {
  const auto distance = static_cast<float>(std::log(confidence / (1 - confidence)));
  const std::uint32_t label = right ? 0 : 1;
  calibrator.add(side, std::vector<float>{distance, 0}, kLogits, {&label, 1});
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double logit(double p) { return std::log(p / (1 - p)); }

TEST(Calibration, IsNotSureWhereAnswersAreAsOftenWrongAsRight) {
  Calibrator calibrator;
  for (int i = 0; i < 6; ++i) answer(calibrator, 0.55, i < 2);
  for (int i = 0; i < 4; ++i) answer(calibrator, 0.70, i < 3);
  for (int i = 0; i < 20; ++i) answer(calibrator, 0.95, true);
  const Calibration found = calibrator.result().value();
  EXPECT_EQ(found.held_out, 30U);
  // Most of those at 0.55 are wrong, most of those at 0.70 are right.
  const auto tempered = [&](double p) { return sigmoid(logit(p) / found.temperature); };
  EXPECT_GT(found.not_sure_below, tempered(0.55));
  EXPECT_LT(found.not_sure_below, tempered(0.70));
}

TEST(Calibration, BothSidesCountAlike) {
  Calibrator calibrator;
  for (int i = 0; i < 400; ++i) answer(calibrator, 0.8, true);
  for (int i = 0; i < 20; ++i) answer(calibrator, 0.8, i < 1, Side::kLocal);
  answer(calibrator, 0.9, true);
  const Calibration found = calibrator.result().value();
  EXPECT_EQ(found.not_sure_below, 0) << "one side is right, and a twentieth of the other";
  for (int i = 0; i < 20; ++i) answer(calibrator, 0.6, false, Side::kLocal);
  EXPECT_GT(calibrator.result().value().not_sure_below, 0.5);
}

TEST(Calibration, AModelThatIsAlwaysRightIsAlwaysSureAndOneThatNeverIsNever) {
  Calibrator right, wrong;
  for (int i = 0; i < 30; ++i) {
    answer(right, 0.6 + 0.01 * i, true);
    answer(wrong, 0.6 + 0.01 * i, false);
  }
  EXPECT_EQ(right.result().value().not_sure_below, 0);
  EXPECT_EQ(wrong.result().value().not_sure_below, 1);
}

// All right at 70 %: without a prior, the sharpest temperature would be best.
Calibration of_right_answers(int global, int local) {
  Calibrator calibrator;
  for (int i = 0; i < global; ++i) answer(calibrator, 0.7, true);
  for (int i = 0; i < local; ++i) answer(calibrator, 0.7, true, Side::kLocal);
  return calibrator.result().value();
}

TEST(Calibration, IsNeverSharperThanTheModelBelowSomeHundredSamples) {
  for (const int samples : {20, 30, 100, 199}) {
    EXPECT_EQ(of_right_answers(samples, 0).temperature, 1) << samples;
    EXPECT_EQ(of_right_answers(0, samples).temperature, 1) << samples;
    EXPECT_EQ(of_right_answers(samples / 2, samples / 2).temperature, 1) << samples;
  }
  EXPECT_EQ(of_right_answers(5000, 30).temperature, 1) << "one side has few";
  EXPECT_LT(of_right_answers(300, 0).temperature, 1);
  EXPECT_LT(of_right_answers(300, 300).temperature, 1);
}

TEST(Calibration, IsShrunkTowardsTheModelByHowFewSamplesThereAre) {
  double last = 1;
  for (const int samples : {20, 60, 2000}) {  // a third is wrong at 90 %
    Calibrator calibrator;
    for (int i = 0; i < samples; ++i) answer(calibrator, 0.9, i % 3 != 0);
    const double found = calibrator.result().value().temperature;
    EXPECT_GT(found, last) << samples;
    last = found;
  }
}

TEST(Calibration, ErrsByFivePointsAtMostHoweverFewSamplesTold) {
  for (const std::size_t samples : {30, 100, 1000}) {
    for (const double loud : {0.9, 1.0, 1.2, 2.0}) {
      if (loud > 1.5 && samples < 1000) continue;  // which few samples do not tell
      LoudModel model(loud, kLogits);
      const Calibration found = model.told_by(samples);
      EXPECT_LE(calibration_error(model, found.temperature), 0.05) << samples << " at " << loud;
    }
  }
}

TEST(Calibration, FewSamplesTellNothing) {
  Calibrator calibrator;
  for (std::size_t i = 0; i + 1 < Calibrator::kLeastSamples; ++i) answer(calibrator, 0.9, true);
  EXPECT_FALSE(calibrator.result());
}

TEST(Calibration, ComesBackFromItsFile) {
  const Calibration kept{1.25, 0.4, 117};
  EXPECT_EQ(calibration_from_json(to_json(kept)), kept);
  for (const char* wrong :
       {"[]", "{}", R"({"temperature": 0, "not_sure_below": 0.5, "held_out": 30})",
        R"({"temperature": 1, "not_sure_below": 2, "held_out": 30})"})
    EXPECT_THROW((void)calibration_from_json(parsed_json(wrong)), Error) << wrong;
}

}  // namespace
}  // namespace moil::night
