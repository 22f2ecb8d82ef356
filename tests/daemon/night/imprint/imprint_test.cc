#include "daemon/night/imprint/imprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/process_memory.h"
#include "base/random.h"
#include "tests/datasets/images/memory_growth.h"
#include "tests/plain_build.h"

namespace moil::night {
namespace {

constexpr std::size_t kWidth = 24, kKnown = 6;

double gauss(Random& random) {
  return std::sqrt(-2 * std::log(1 - random.unit())) * std::cos(6.283185307179586 * random.unit());
}

// What the forecast counts is what it takes, with few classes and with thousands.
TEST(Imprint, TakesNoMoreThanItPromises) {
  MOIL_NEEDS_TRUE_MEMORY();
  return_freed_memory();
  struct Case {
    std::size_t width, known, fresh, of_class;
  };
  // What BLAS keeps for its threads is the libraries' own: the first case only makes it take that.
  bool is_first = true;
  for (const Case& c : {Case{1024, 10, 2, 50}, Case{1024, 10, 2, 50}, Case{64, 4000, 50, 1},
                        Case{64, 50, 3000, 1}, Case{256, 500, 1000, 2}}) {
    SCOPED_TRACE(c.fresh);
    Random random(7);
    std::vector<FoldedSample> samples;
    for (std::size_t fold = 0; fold < kFolds; ++fold)
      for (std::size_t i = 0; i < (c.known + c.fresh) * c.of_class; ++i)
        if (i % kFolds == fold)
          samples.push_back({static_cast<std::uint32_t>(i / c.of_class), fold});
    std::vector<float> features(samples.size() * c.width), weights(c.known * c.width),
        bias(c.known);
    for (float& x : features) x = static_cast<float>(gauss(random));
    for (float& x : weights) x = static_cast<float>(gauss(random));
    std::optional<ImprintedRows> made;
    const std::size_t taken = data::growth([&] {
      made = imprint({.width = c.width,
                      .known = c.known,
                      .fresh = c.fresh,
                      .samples = samples,
                      .features = features,
                      .known_weights = weights,
                      .known_bias = bias});
    });
    EXPECT_TRUE(made);
    if (std::exchange(is_first, false)) continue;
    const std::size_t promised = imprint_bytes(samples.size(), c.width, c.known, c.fresh,
                                               (samples.size() + kFolds - 1) / kFolds);
    EXPECT_LE(taken, promised + 2 * data::kMiB) << "products of matrices have buffers of their own";
    RecordProperty("taken_mib", static_cast<int>(taken >> 20));
    RecordProperty("promised_mib", static_cast<int>(promised >> 20));
  }
}

// How far the new rows point, on average, to what all real features have and described ones lack.
double towards_what_is_common(bool described, std::size_t fresh_classes = 2) {
  constexpr std::size_t kOfClass = 10;
  const auto is_common = [](std::size_t j) { return j % 4 == 0; };
  Random random(5);
  std::vector<float> centres((kKnown + fresh_classes) * kWidth);
  for (std::size_t i = 0; i < centres.size(); ++i)
    centres[i] = is_common(i % kWidth) ? 0 : static_cast<float>(1.2 * gauss(random));
  std::vector<FoldedSample> samples;
  std::vector<float> features;
  for (std::size_t fold = 0; fold < kOfClass; ++fold) {
    for (std::uint32_t k = 0; k < kKnown + fresh_classes; ++k) {
      samples.push_back({k, fold, described && k < kKnown});
      for (std::size_t j = 0; j < kWidth; ++j) {
        const double common = is_common(j) && k >= kKnown ? 4 : 0;
        features.push_back(
            static_cast<float>(double{centres[k * kWidth + j]} + common + 0.4 * gauss(random)));
      }
    }
  }
  const std::vector<float> weights(centres.begin(), centres.begin() + kKnown * kWidth),
      bias(kKnown);
  const auto made = imprint({.width = kWidth,
                             .known = kKnown,
                             .fresh = fresh_classes,
                             .samples = samples,
                             .features = features,
                             .known_weights = weights,
                             .known_bias = bias});
  double common = 0, all = 0;
  for (std::size_t j = 0; j < kWidth; ++j) {
    double mean = 0;
    for (std::size_t k = 0; k < fresh_classes; ++k) mean += double{made->weights[k * kWidth + j]};
    mean /= static_cast<double>(fresh_classes);
    if (is_common(j)) common += mean * mean;
    all += double{made->weights[j]} * double{made->weights[j]};
  }
  return std::sqrt(common / all);
}

TEST(Imprint, WhatIsDescribedTellsNothingOfWhatFeaturesHaveInCommon) {
  EXPECT_GT(towards_what_is_common(false), 0.3) << "else the test shows nothing";
  EXPECT_LT(towards_what_is_common(true), 0.1);
  EXPECT_GT(towards_what_is_common(false, 1), 0.3);
  EXPECT_LT(towards_what_is_common(true, 1), 0.1) << "a first label alone has a row, too";
}

// Classes are clouds around centres that are far from the origin; directions differ in spread. A
// classifier knows the first ones: nearest centres, as products of rows and features.
class Clouds {
 public:
  explicit Clouds(std::size_t fresh, std::uint64_t seed = 1) : fresh_(fresh), random_(seed) {
    for (std::size_t i = 0; i < (kKnown + fresh) * kWidth; ++i)
      centres_.push_back(static_cast<float>(3 + 1.2 * gauss(random_)));
    for (std::size_t k = 0; k < kKnown; ++k) {
      double square = 0;
      for (std::size_t j = 0; j < kWidth; ++j) {
        const float x = centres_[k * kWidth + j];
        weights_.push_back(x);
        square += double{x} * double{x};
      }
      bias_.push_back(static_cast<float>(-square / 2));
    }
  }

  // A new class lies near a known one, whose row answers for it: it is known by another name.
  void rename(std::uint32_t fresh, std::uint32_t known) {
    for (std::size_t j = 0; j < kWidth; ++j)
      centres_[(kKnown + fresh) * kWidth + j] =
          centres_[known * kWidth + j] + static_cast<float>(0.3 * gauss(random_));
  }

  std::vector<float> draw(std::uint32_t label) {
    std::vector<float> x;
    for (std::size_t j = 0; j < kWidth; ++j)
      x.push_back(centres_[label * kWidth + j] +
                  static_cast<float>((j % 3 == 0 ? 2.5 : 0.4) * gauss(random_)));
    return x;
  }

  // Like the first new class, and none.
  std::vector<float> draw_stranger() {
    std::vector<float> x = draw(kKnown);
    for (std::size_t j = 0; j < kWidth; j += 2) x[j] += 1.5F;
    return x;
  }

  // counts: training samples of each new class; of_known: of each known one; strangers: that are
  // said not to be of the first new class.
  std::optional<ImprintedRows> imprinted(const std::vector<std::size_t>& counts,
                                         bool each_by_itself = false, std::size_t of_known = 20,
                                         std::size_t strangers = 0) {
    struct Drawn {
      FoldedSample sample;
      std::vector<float> features;
    };
    std::vector<Drawn> drawn;
    for (std::uint32_t k = 0; k < kKnown + fresh_; ++k) {
      const std::size_t count = k < kKnown ? of_known : counts.at(k - kKnown);
      for (std::size_t i = 0; i < count; ++i) drawn.push_back({{k, i % kFolds}, draw(k)});
    }
    for (std::size_t i = 0; i < strangers; ++i)
      drawn.push_back({{kOfNoClass, i % kFolds, false, {0}}, draw_stranger()});
    std::ranges::stable_sort(drawn, {}, [](const Drawn& d) { return d.sample.fold; });
    std::vector<FoldedSample> samples;
    std::vector<float> features;
    for (const Drawn& d : drawn) {
      samples.push_back(d.sample);
      features.insert(features.end(), d.features.begin(), d.features.end());
    }
    return imprint({.width = kWidth,
                    .known = kKnown,
                    .fresh = fresh_,
                    .samples = samples,
                    .features = features,
                    .known_weights = weights_,
                    .known_bias = bias_,
                    .each_by_itself = each_by_itself});
  }

  // The share of strangers that are taken for the first new class.
  double taken(const ImprintedRows& rows, bool each_by_itself) {
    int count = 0;
    for (int i = 0; i < 400; ++i) {
      const std::vector<float> x = draw_stranger();
      double own = double{rows.bias[0]};
      for (std::size_t j = 0; j < kWidth; ++j) own += double{rows.weights[j]} * double{x[j]};
      count += (each_by_itself ? own > 0 : said(rows, x) == kKnown) ? 1 : 0;
    }
    return count / 400.0;
  }

  // The share of fresh samples of classes from `first` on that all rows together tell right.
  double right(const ImprintedRows& rows, std::uint32_t first, std::uint32_t end) {
    std::size_t count = 0, all = 0;
    for (std::uint32_t label = first; label < end; ++label) {
      for (int i = 0; i < 100; ++i, ++all) count += said(rows, draw(label)) == label ? 1 : 0;
    }
    return static_cast<double>(count) / static_cast<double>(all);
  }

 private:
  std::uint32_t said(const ImprintedRows& rows, const std::vector<float>& x) const {
    std::vector<double> outputs;
    const auto add = [&](const std::vector<float>& weights, const std::vector<float>& bias) {
      for (std::size_t k = 0; k < bias.size(); ++k) {
        double sum = double{bias[k]};
        for (std::size_t j = 0; j < kWidth; ++j)
          sum += double{weights[k * kWidth + j]} * double{x[j]};
        outputs.push_back(sum);
      }
    };
    add(weights_, bias_);
    add(rows.weights, rows.bias);
    return static_cast<std::uint32_t>(std::ranges::max_element(outputs) - outputs.begin());
  }

  const std::size_t fresh_;
  Random random_;
  std::vector<float> centres_, weights_, bias_;
};

const ImprintedRows kNoRows;

TEST(Imprint, FewSamplesTeachNewClassesAndOldOnesStay) {
  Clouds clouds(4);
  const double before = clouds.right(kNoRows, 0, kKnown);
  const auto rows = clouds.imprinted({5, 5, 5, 5});
  ASSERT_TRUE(rows);
  EXPECT_TRUE(rows->fitted);
  EXPECT_GT(clouds.right(*rows, kKnown, kKnown + 4), 0.9);
  EXPECT_GT(clouds.right(*rows, 0, kKnown), before - 0.03);
}

TEST(Imprint, OneSampleIsABeginning) {
  Clouds clouds(3, 7);
  const double before = clouds.right(kNoRows, 0, kKnown);
  const auto rows = clouds.imprinted({1, 1, 1});
  ASSERT_TRUE(rows);
  EXPECT_FALSE(rows->fitted) << "no sample is left out";
  EXPECT_GT(clouds.right(*rows, kKnown, kKnown + 3), 0.5);
  EXPECT_GT(clouds.right(*rows, 0, kKnown), before - 0.05);
}

TEST(Imprint, AClassOfManySamplesDoesNotOutshoutOneOfFew) {
  Clouds clouds(4, 3);
  const auto rows = clouds.imprinted({2, 40, 2, 40});
  ASSERT_TRUE(rows);
  for (const std::uint32_t few : {0U, 2U})
    EXPECT_GT(clouds.right(*rows, kKnown + few, kKnown + few + 1), 0.75) << "class " << few;
}

TEST(Imprint, AClassThatIsKnownByAnotherNameIsHeardAndNamed) {
  Clouds clouds(3, 11);
  clouds.rename(0, 2);
  clouds.rename(1, 4);
  const double before = clouds.right(kNoRows, 0, 2);
  const auto rows = clouds.imprinted({5, 5, 5}, /*each_by_itself=*/false, /*of_known=*/3);
  ASSERT_TRUE(rows);
  for (const std::uint32_t renamed : {0U, 1U}) {
    ASSERT_TRUE(rows->names[renamed]);
    EXPECT_EQ(rows->names[renamed]->known, renamed == 0 ? 2U : 4U);
    EXPECT_EQ(rows->names[renamed]->samples, 5U);
    EXPECT_GT(rows->names[renamed]->said, 2U);
    EXPECT_GT(clouds.right(*rows, kKnown + renamed, kKnown + renamed + 1), 0.6);
  }
  EXPECT_GT(clouds.right(*rows, kKnown + 2, kKnown + 3), 0.6) << "one that is really new";
  EXPECT_GT(clouds.right(*rows, 0, 2), before - 0.03) << "what nobody renamed";
}

TEST(Imprint, SaysHowManyAreRightThatRowsWereNotMadeOf) {
  Clouds clouds(4);
  const auto rows = clouds.imprinted({5, 5, 5, 1});
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->left_out.samples, 15U) << "the only one of its class tells nothing";
  EXPECT_NEAR(static_cast<double>(rows->left_out.right) / 15,
              clouds.right(*rows, kKnown, kKnown + 3), 0.2);
  EXPECT_EQ(Clouds(2).imprinted({1, 1})->left_out.samples, 0U);
  EXPECT_EQ(Clouds(2).imprinted({5, 5}, /*each_by_itself=*/true)->left_out.samples, 0U);
}

// Rows are held against what they were not made of; were the covariance made of it, or the means,
// known samples would seem to say less, and new ones more, than unseen ones do.
TEST(Imprint, WhatIsLeftOutSaysWhatTheUnseenSays) {
  constexpr std::size_t kWide = 64, kMany = 80, kFew = 5, kUnseen = 200;
  double left_out = 0, unseen = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Random random(seed);
    std::vector<FoldedSample> samples;
    std::vector<float> features;
    const auto draw = [&] {
      std::vector<float> x;
      for (std::size_t j = 0; j < kWide; ++j)
        x.push_back(static_cast<float>((j % 4 == 0 ? 3 : 1) * gauss(random)));
      return x;
    };
    for (std::uint32_t i = 0; i < kMany + kFew; ++i) {
      samples.push_back({std::min<std::uint32_t>(i, kMany), i});
      const auto x = draw();
      features.insert(features.end(), x.begin(), x.end());
    }
    WhitenedRows rows({kWide, kMany, 1, samples, features});
    const std::vector<float> scores = rows.left_out_scores();
    for (std::size_t i = 0; i < kMany; ++i)
      left_out += double{scores[i]} * double{scores[i]} / kMany;
    const auto all = rows.of_all();
    for (std::size_t i = 0; i < kUnseen; ++i) {
      const auto x = draw();
      double sum = 0;
      for (std::size_t j = 0; j < kWide; ++j)
        sum += double{all.weights[j]} * (double{x[j]} - double{rows.middle()[j]});
      unseen += sum * sum / kUnseen;
    }
  }
  EXPECT_NEAR(left_out / unseen, 1, 0.2);
}

TEST(Imprint, RowsOfSigmoidsAnswerByThemselves) {
  Clouds clouds(2, 5);
  const auto rows = clouds.imprinted({8, 8}, /*each_by_itself=*/true);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->names.size(), 2U);
  EXPECT_FALSE(rows->names[0] || rows->names[1]) << "several may be right";
  std::size_t right = 0;
  constexpr std::uint32_t kClasses = kKnown + 2;
  for (std::uint32_t label = 0; label < kClasses; ++label) {
    for (int i = 0; i < 50; ++i) {
      const std::vector<float> x = clouds.draw(label);
      for (std::uint32_t k = 0; k < 2; ++k) {
        double output = double{rows->bias[k]};
        for (std::size_t j = 0; j < kWidth; ++j)
          output += double{rows->weights[k * kWidth + j]} * double{x[j]};
        right += (output > 0) == (label == kKnown + k) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(static_cast<double>(right) / (kClasses * 100), 0.95);
}

TEST(Imprint, WhatIsSaidNotToBeOfAClassIsTakenForItLessOften) {
  for (const bool each_by_itself : {false, true}) {
    SCOPED_TRACE(each_by_itself);
    Clouds plain(2, 4), told(2, 4);
    const auto before = plain.imprinted({10, 10}, each_by_itself),
               after = told.imprinted({10, 10}, each_by_itself, 20, 30);
    ASSERT_TRUE(before && after);
    const double taken = plain.taken(*before, each_by_itself);
    EXPECT_GT(taken, 0.3) << "else the test shows nothing";
    EXPECT_LT(told.taken(*after, each_by_itself), 0.75 * taken);
  }
}

TEST(Imprint, IsTheSameEachTime) {
  const auto first = Clouds(3).imprinted({5, 1, 9}), again = Clouds(3).imprinted({5, 1, 9});
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->weights, again->weights);
  EXPECT_EQ(first->bias, again->bias);
}

TEST(Imprint, SaysWhereNothingCanBeMade) {
  EXPECT_FALSE(Clouds(2).imprinted({5, 0})) << "a class without samples";
  std::vector<FoldedSample> samples(8);
  for (std::size_t i = 4; i < 8; ++i) samples[i].label = kKnown;
  std::vector<float> features(8 * kWidth, 1.0F), weights(kKnown * kWidth, 0.5F), bias(kKnown);
  ImprintInput same{.width = kWidth,
                    .known = kKnown,
                    .fresh = 1,
                    .samples = samples,
                    .features = features,
                    .known_weights = weights,
                    .known_bias = bias};
  EXPECT_FALSE(imprint(same)) << "features that are all the same";
  same.known_bias = {};
  EXPECT_FALSE(imprint(same)) << "no bias to hold an offset";
}

}  // namespace
}  // namespace moil::night
