#include "engine/elastic/measured_backward.h"

#include <gtest/gtest.h>

#include "engine/elastic/predicted_step.h"
#include "tests/engine/elastic/elastic_case.h"
#include "tests/engine/graph/models.h"

namespace moil {
namespace {

using testing::ElasticCase;

// Its times are made up, its backward passes not measured.
class MeasuredBackwardTest : public ::testing::Test {
 protected:
  MeasuredBackwardTest() : case_(testing::random_times(testing::residual_model(), 1)) {
    profile().besides = 2;
    profile().step = profile().forward + profile().besides + 0.9 * parts_of(all());
  }

  TimingProfile& profile() { return case_.profile; }
  std::set<std::string> all() const {
    std::set<std::string> names;
    for (const auto& [name, importance] : case_.importance) names.insert(name);
    return names;
  }
  // The weights of so many of the last layers that have any.
  std::set<std::string> last_layers(int layers) const {
    std::set<std::string> names;
    for (auto l = case_.profile.layers.rbegin(); layers > 0; ++l) {
      for (const WeightTiming& w : l->weights) names.insert(w.name);
      if (!l->weights.empty()) --layers;
    }
    return names;
  }
  double parts_of(const std::set<std::string>& trained) const {
    return PredictedStep(case_.profile, case_.graph, trained).parts();
  }
  // A training that takes so much of its parts.
  MeasuredBackward measured(const std::set<std::string>& trained, double factor) const {
    const double backward = case_.profile.step - case_.profile.forward;
    return {trained, (factor * parts_of(trained) + case_.profile.besides) / backward};
  }
  void take(const std::vector<MeasuredBackward>& measured) {
    take_backward(case_.profile, case_.graph, measured);
  }
  double predicted(const std::set<std::string>& trained) const {
    return predicted_step(case_.profile, case_.graph, trained);
  }

  ElasticCase case_;
};

constexpr double kSmoothed = 0.03;  // what others that are not as long may change

TEST_F(MeasuredBackwardTest, APassTakesWhatWasMeasured) {
  std::set<std::string> kernelless = last_layers(1);
  kernelless.erase(last_kernel(profile())->name);
  const std::vector<MeasuredBackward> samples = {measured(kernelless, 0.5),
                                                 measured(last_layers(1), 0.7)};
  take(samples);
  ASSERT_EQ(profile().backward.size(), 2U);
  ASSERT_EQ(profile().kernelless_backward.size(), 1U);
  ASSERT_LT(profile().backward[0].share, 0.4);
  EXPECT_NEAR(profile().backward[0].factor, 0.7, kSmoothed);
  EXPECT_NEAR(profile().kernelless_backward[0].factor, 0.5, 1e-9);
  const double backward = profile().step - profile().forward;
  for (const MeasuredBackward& s : samples)
    EXPECT_NEAR(predicted(s.trained), profile().forward + s.share * backward,
                kSmoothed * s.share * backward);
  EXPECT_NEAR(predicted(all()), profile().step, 1e-6);
}

TEST_F(MeasuredBackwardTest, APassWithOneLargeWeightTakesWhatWasMeasured) {
  ASSERT_GT(testing::give_large(profile()), 1);
  const std::set<std::string> last = last_layers(1);
  ASSERT_TRUE(lone_weight(last, profile()));
  const MeasuredBackward sample = measured(last, 0.7);
  take({sample});
  const double backward = sample.share * (profile().step - profile().forward);
  EXPECT_NEAR(predicted(last), profile().forward + backward, kSmoothed * backward);
  EXPECT_NEAR(predicted(all()), profile().step, 1e-6);
}

TEST_F(MeasuredBackwardTest, EverythingWithOneLargeWeightTakesAStep) {
  for (LayerTiming& layer : profile().layers) {
    for (WeightTiming& w : layer.weights) {
      if (w.name == last_kernel(profile())->name) w.lone_apply = w.apply / 2;
    }
  }
  take({});
  EXPECT_NEAR(predicted(all()), profile().step, 1e-6);
}

TEST_F(MeasuredBackwardTest, EverythingIsTheLastEvenIfNothingElseWasMeasured) {
  take({});
  ASSERT_EQ(profile().backward.size(), 1U);
  EXPECT_NEAR(profile().backward[0].share, 1, 1e-9);
  EXPECT_NEAR(profile().backward[0].factor, 0.9, 1e-9);
}

TEST_F(MeasuredBackwardTest, WhatWasTakenBeforeIsForgotten) {
  take({measured(last_layers(1), 0.7)});
  take({measured(last_layers(2), 0.8)});
  EXPECT_EQ(profile().backward.size(), 2U);
}

// A layer whose weight took longer alone than everything does: its sample says nothing.
TEST_F(MeasuredBackwardTest, PartsOfMoreThanEverythingAreLeftOut) {
  const std::set<std::string> last = last_layers(1);
  const std::string kernel = last_kernel(profile())->name;
  ASSERT_GT(last.size(), 1U);
  for (LayerTiming& layer : profile().layers) {
    for (WeightTiming& w : layer.weights) {
      if (w.name == kernel) w.gradient = 100 * profile().step;
    }
  }
  take({{{kernel}, 0.5}});
  ASSERT_EQ(profile().backward.size(), 1U);
  EXPECT_NEAR(predicted(all()), profile().step, 1e-6);
}

// Nor does one that took no longer than what every step takes.
TEST_F(MeasuredBackwardTest, WhatTookNothingIsLeftOut) {
  take({{last_layers(1), 0}});
  EXPECT_EQ(profile().backward.size(), 1U);
}

TEST_F(MeasuredBackwardTest, SharesRise) {
  take({measured(last_layers(2), 0.8), measured(last_layers(1), 0.7), measured(all(), 0.1)});
  ASSERT_EQ(profile().backward.size(), 3U);
  testing::expect_rising(profile().backward);
}

TEST_F(MeasuredBackwardTest, WhatIsAsLongIsAveraged) {
  take({measured(last_layers(1), 0.6), measured(last_layers(1), 0.8)});
  ASSERT_EQ(profile().backward.size(), 2U);
  EXPECT_NEAR(profile().backward[0].factor, 0.7, kSmoothed);
  EXPECT_NEAR(profile().backward[1].factor, 0.9, 1e-9);
}

}  // namespace
}  // namespace moil
