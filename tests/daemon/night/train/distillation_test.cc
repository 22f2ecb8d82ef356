#include "daemon/night/train/distillation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <numeric>

#include "daemon/night/data/soft_targets.h"
#include "daemon/night/maps/feature_source.h"
#include "daemon/night/maps/head_network.h"
#include "engine/model/realizers/realizers.h"
#include "tests/daemon/night/support.h"
#include "tests/engine/train/plain_batch.h"

namespace moil::night {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

class SoftTargetsTest : public ::testing::Test {
 protected:
  SoftTargetsTest()
      : freeze_(freeze_all_but_last(bundle_.description, 1)),
        mix_(data::mix(global_, local_, {}, 1.0, 3)),
        backbone_(bundle_.description, weights_in(bundle_), freeze_, 4, kernels_),
        reader_(origins_, bundle_.kind, backbone_, nullptr, {}),
        teacher_(realize_slice(bundle_.description, freeze_.split, freeze_.split_dims).head,
                 kernels_) {
    teacher_.allocate(weights_in(bundle_));
  }

  bool write(std::int64_t most = 1 << 20) { return write(reader_, most); }
  bool write(FeatureReader& reader, std::int64_t most = 1 << 20) {
    constexpr std::int64_t kManyEpochs = 1000;  // every face is shown
    return write_soft_targets(path_, teacher_, *bundle_.task, {mix_.train, kManyEpochs}, reader,
                              [&](std::int64_t done) {
                                told_.push_back(done);
                                return done < most;
                              });
  }

  // What the teacher's logits mean, worked out here.
  std::vector<float> expected(const data::MixedSample& sample, std::uint16_t view = 0) {
    const SampleView one[] = {{&sample, view}};
    reader_.read(one, teacher_.network().input(0));
    teacher_.network().forward();
    std::vector<double> e;
    for (int c = 0; c < 3; ++c)
      e.push_back(std::exp(static_cast<double>(teacher_.network().output(0)[c])));
    const double sum = std::accumulate(e.begin(), e.end(), 0.0);
    std::vector<float> row;
    for (const double x : e) row.push_back(static_cast<float>(x / sum));
    return row;
  }

  std::int64_t first(data::Source source) const {
    for (std::size_t i = 0; i < mix_.train.size(); ++i)
      if (mix_.train[i].ref.source == source) return static_cast<std::int64_t>(i);
    return -1;
  }

  NumberImages global_{{"a", "b", "c"}, 9};
  NumberImages local_{{"x"}, 9, 500};
  Origins origins_{.global_samples = &global_, .local_samples = &local_};
  ModelBundle bundle_ = small_bundle();
  Freeze freeze_;
  data::Mix mix_;
  MixTargets labels_{*bundle_.task, mix_, 4};
  KernelSelector kernels_;
  Backbone backbone_;
  FeatureReader reader_;
  HeadNetwork teacher_;
  TempFolder temp_;
  std::filesystem::path path_ = temp_ / "soft_targets";
  std::vector<std::int64_t> told_;
};

TEST_F(SoftTargetsTest, AreTheTeachersProbabilitiesOfGlobalSamplesAlone) {
  ASSERT_TRUE(write());
  EXPECT_EQ(told_.back(), static_cast<std::int64_t>(
                              count_if(mix_.train.begin(), mix_.train.end(), [](const auto& s) {
                                return s.ref.source == data::Source::kGlobal;
                              })));
  const SoftTargets targets(path_, mix_.train);
  ASSERT_EQ(targets.classes(), 3U);
  std::vector<float> row(3);
  for (std::size_t i = 0; i < mix_.train.size(); ++i) {
    const bool global = mix_.train[i].ref.source == data::Source::kGlobal;
    ASSERT_EQ(targets.has(static_cast<std::int64_t>(i)), global);
    if (!global) continue;
    targets.read(static_cast<std::int64_t>(i), 0, 0, row);
    EXPECT_THAT(row, Pointwise(FloatNear(1e-6F), expected(mix_.train[i])));
  }
}

TEST_F(SoftTargetsTest, TakeTheirShareOfAGlobalSamplesTarget) {
  ASSERT_TRUE(write());
  const SoftTargets soft(path_, mix_.train);
  FeatureSource source(mix_.train, labels_, reader_, {&soft, 0.75});
  const std::int64_t both[] = {first(data::Source::kGlobal), first(data::Source::kLocal)};
  std::vector<float> inputs(2 * reader_.elements()), targets(8, -1.0F);
  moil::test::read_plain(source, both, inputs, targets);
  const data::MixedSample& global = mix_.train[static_cast<std::size_t>(both[0])];
  std::vector<float> mixed = expected(global);
  for (float& p : mixed) p *= 0.75F;
  mixed[global.labels[0]] += 0.25F;
  mixed.insert(mixed.end(), {0.0F, 0.0F, 0.0F, 0.0F, 1.0F});  // the fourth class; a local sample
  EXPECT_THAT(targets, Pointwise(FloatNear(1e-6F), mixed));
}

TEST_F(SoftTargetsTest, EveryViewHasARowOfItsOwn) {
  FeatureReader viewing(origins_, bundle_.kind, backbone_, nullptr, {}, {3, true});
  ASSERT_TRUE(write(viewing));
  const auto global = count_if(mix_.train.begin(), mix_.train.end(),
                               [](const auto& s) { return s.ref.source == data::Source::kGlobal; });
  EXPECT_EQ(told_.back(), 3 * global);
  const SoftTargets soft(path_, mix_.train, 3);
  std::vector<float> row(3), plain(3);
  int others = 0;
  for (std::size_t i = 0; i < mix_.train.size(); ++i) {
    if (mix_.train[i].ref.source != data::Source::kGlobal) continue;
    soft.read(static_cast<std::int64_t>(i), 0, 0, plain);
    for (std::uint16_t view = 0; view < 3; ++view) {
      soft.read(static_cast<std::int64_t>(i), 0, view, row);
      EXPECT_THAT(row, Pointwise(FloatNear(1e-6F), expected(mix_.train[i], view)));
      others += row != plain ? 1 : 0;
    }
  }
  EXPECT_GT(others, global) << "of these tiny images some views are alike";
}

TEST_F(SoftTargetsTest, ASampleGetsTheRowOfItsView) {
  FeatureReader viewing(origins_, bundle_.kind, backbone_, nullptr, {}, {3, true});
  ASSERT_TRUE(write(viewing));
  const SoftTargets soft(path_, mix_.train, 3);
  FeatureSource source(mix_.train, labels_, viewing, {&soft, 1.0});
  const std::int64_t sample = first(data::Source::kGlobal) + 1;
  const std::int64_t indices[] = {sample + 2 * source.size(), sample, sample + source.size()};
  std::vector<float> inputs(3 * viewing.elements()), targets(9);
  moil::test::read_plain(source, indices, inputs, targets);
  const std::uint16_t views[] = {2, 0, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto row = std::span(targets).subspan(3 * i, 3);
    EXPECT_THAT(row, Pointwise(FloatNear(1e-6F),
                               expected(mix_.train[static_cast<std::size_t>(sample)], views[i])));
  }
}

TEST_F(SoftTargetsTest, AFileOfAnotherNumberOfViewsIsRefused) {
  ASSERT_TRUE(write());
  EXPECT_THROW(SoftTargets(path_, mix_.train, 3), Error);
}

TEST_F(SoftTargetsTest, AStoppedWriteLeavesNothing) {
  EXPECT_FALSE(write(1));
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_THROW(SoftTargets(path_, mix_.train), Error);
  EXPECT_TRUE(write());
}

TEST_F(SoftTargetsTest, AFileOfOtherSamplesOrATruncatedOneIsRefused) {
  ASSERT_TRUE(write());
  std::vector<data::MixedSample> fewer = mix_.train;
  fewer.erase(fewer.begin() + first(data::Source::kGlobal));
  EXPECT_THROW(SoftTargets(path_, fewer), Error);
  const auto size = std::filesystem::file_size(path_);
  for (const auto part : {std::uintmax_t{0}, std::uintmax_t{10}, std::uintmax_t{32}, size - 4}) {
    std::filesystem::resize_file(path_, part);
    EXPECT_THROW(SoftTargets(path_, mix_.train), Error) << part;
  }
}

}  // namespace
}  // namespace moil::night
