#include "daemon/night/imprint/named_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace moil::night {
namespace {

// Three known classes, two new ones; what each sample is called is given.
class NamedRowsOf {
 public:
  static constexpr std::size_t kWidth = 5, kKnown = 3, kFresh = 2;
  const std::vector<FoldedSample> samples = {{3, 0}, {0, 0}, {3, 0}, {4, 1},         {3, 1},
                                             {1, 2}, {3, 3}, {4, 4}, {kOfNoClass, 5}};
  const std::vector<std::uint32_t> said = {1, 0, 1, 2, 0, 1, 1, 0, 2};
  std::vector<float> features, weights;
  const std::vector<float> bias = {0.5F, -1, 2};

  NamedRowsOf() {
    Random random(3);
    const auto draw = [&] { return static_cast<float>(random.unit()) - 0.5F; };
    for (std::size_t i = 0; i < samples.size() * kWidth; ++i) features.push_back(draw());
    for (std::size_t i = 0; i < kKnown * kWidth; ++i) weights.push_back(draw());
  }

  NamedRows rows() const {
    return NamedRows({kWidth, kKnown, kFresh, samples, features, weights, bias}, said);
  }
  double known(std::uint32_t name, std::size_t sample) const {
    double sum = double{bias[name]};
    for (std::size_t j = 0; j < kWidth; ++j)
      sum += double{weights[name * kWidth + j]} * double{features[sample * kWidth + j]};
    return sum;
  }
  // What the names of class k say of a sample, without those of the samples that `leaves` is true
  // of.
  template <typename Leaves>
  double mean(std::size_t k, std::size_t sample, Leaves leaves) const {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (samples[i].label == kKnown + k && !leaves(samples[i]))
        sum += known(said[i], sample), ++count;
    return sum / count;
  }
};

TEST(NamedRows, AreTheMeanOfTheRowsThatAnswer) {
  const NamedRowsOf of;
  const NamedRows rows = of.rows();
  for (std::size_t k = 0; k < of.kFresh; ++k) {
    for (std::size_t i = 0; i < of.samples.size(); ++i) {
      double output = double{rows.bias()[k]};
      for (std::size_t j = 0; j < of.kWidth; ++j)
        output +=
            double{rows.weights()[k * of.kWidth + j]} * double{of.features[i * of.kWidth + j]};
      EXPECT_NEAR(output, of.mean(k, i, [](const FoldedSample&) { return false; }), 1e-5);
    }
  }
}

TEST(NamedRows, WhatIsLeftOutGivesItsFoldNoName) {
  const NamedRowsOf of;
  const std::vector<float> outputs = of.rows().left_out_outputs();
  for (std::size_t i = 0; i < of.samples.size(); ++i) {
    const auto leaves = [&](const FoldedSample& other) { return other.fold == of.samples[i].fold; };
    for (std::size_t k = 0; k < of.kFresh; ++k)
      EXPECT_NEAR(outputs[i * of.kFresh + k], of.mean(k, i, leaves), 1e-5) << i << " by " << k;
  }
}

TEST(NamedRows, TellTheNameOfMostSamples) {
  const auto names = NamedRowsOf().rows().names();
  ASSERT_TRUE(names[0]);
  EXPECT_EQ(names[0]->known, 1U);
  EXPECT_EQ(names[0]->said, 3U);
  EXPECT_EQ(names[0]->samples, 4U);
  EXPECT_FALSE(names[1]) << "one of two is not most";
}

}  // namespace
}  // namespace moil::night
