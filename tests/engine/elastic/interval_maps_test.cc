#include "engine/elastic/interval_maps.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "engine/train/trainer.h"
#include "tests/engine/train/plain_batch.h"
#include "tests/engine/train/toy_source.h"

namespace moil {
namespace {

constexpr std::int64_t kMapFeatures = 12, kMapSamples = 10;

struct MapsCase {
  explicit MapsCase(std::uint64_t limit = 1 << 20)
      : model(test::ModelBuilder({kMapFeatures}).fc(6).relu().fc(4).relu().fc(3).model()),
        graph(build_graph(training_plan_input(model, nullptr, TrainerConfig{}).model, 4)),
        weights(test::random_weights(model, 3)),
        kernels(test::fixed_kernels()),
        maps(model, graph, {std::filesystem::temp_directory_path(), limit}) {
    std::iota(all.begin(), all.end(), 0);
  }
  IntervalMaps::Filled fill(const std::string& cut, std::span<const std::int64_t> samples) {
    return maps.fill(maps.cut_named(cut), source, samples, {weights, {4}, kernels, may_go_on});
  }

  ModelDescription model;
  Graph graph;
  WeightMap weights;
  KernelSelector kernels;
  test::ToySource source{kMapSamples, kMapFeatures};
  IntervalMaps maps;
  std::vector<std::int64_t> all = std::vector<std::int64_t>(kMapSamples);
  std::function<bool()> may_go_on;
};

// Two epochs of the same samples: half of what is trained needs a map.
TEST(IntervalMaps, AMapIsComputedForEachSampleOnce) {
  const MapsCase c;
  std::vector<std::int64_t> twice = c.all;
  twice.insert(twice.end(), c.all.begin(), c.all.end());
  const TailTerms fresh = c.maps.terms(twice, "", {});
  EXPECT_EQ(fresh.cuts.size(), 3U);
  EXPECT_EQ(fresh.computed, 0.5);
  EXPECT_EQ(fresh.kept, "");
  const TailTerms kept = c.maps.terms(twice, "relu0", {0, 1, 2, 3, 4, 0, 1});
  EXPECT_EQ(kept.kept, "relu0");
  EXPECT_EQ(kept.kept_computed, 0.25);
}

// A target has three elements.
TEST(IntervalMaps, TheLimitIsOfMapsAndTargets) {
  const MapsCase c(kMapSamples * (3 + 4) * sizeof(float) + 5);
  EXPECT_EQ(c.maps.terms(c.all, "", {}).most_elements, 4U);
  const MapsCase none(8);
  EXPECT_EQ(none.maps.terms(none.all, "", {}).most_elements, 0U);
}

// What is free is asked once, by who begins a run; there is no disk of 2^62 bytes.
TEST(IntervalMaps, WhatARunMayTakeIsNotAskedOfTheDiskAgain) {
  const MapsCase c(std::uint64_t{1} << 62);
  EXPECT_GT(c.maps.terms(c.all, "", {}).most_elements, std::uint64_t{1} << 56);
}

TEST(IntervalMaps, ARunMayTakeHalfOfWhatIsFreeWithinItsLimit) {
  const auto folder = std::filesystem::temp_directory_path();
  const std::uint64_t free = std::filesystem::space(folder).available;
  EXPECT_LE(room_for_maps(folder, 0), free / 2 + free / 8);  // others write meanwhile
  EXPECT_GT(room_for_maps(folder, 0), 0U);
  EXPECT_EQ(room_for_maps(folder, 4096), 4096U);
  EXPECT_EQ(room_for_maps(folder / "nowhere", 4096), 0U);
}

TEST(IntervalMaps, NoFolderNoMaps) {
  MapsCase c;
  const IntervalMaps maps(c.model, c.graph, {});
  EXPECT_TRUE(maps.terms(c.all, "", {}).cuts.empty());
}

TEST(IntervalMaps, GivesMapsOfTheCutThatWasFilledLast) {
  MapsCase c;
  EXPECT_EQ(&c.maps.source(c.source), &c.source);
  const std::span<const std::int64_t> all = c.all;
  EXPECT_TRUE(c.fill("relu0", all.first(4)).computed);
  EXPECT_TRUE(c.fill("relu0", all).computed);
  EXPECT_FALSE(c.fill("relu0", all).computed);
  BatchSource& first = c.maps.source(c.source);
  EXPECT_NE(&first, &c.source);
  std::vector<float> map(6), target(3);
  test::read_plain(first, all.last(1), map, target);
  EXPECT_TRUE(c.fill("relu1", all).computed);
  EXPECT_TRUE(c.fill("relu0", all).computed);  // the others took their place
  std::vector<float> again(6);
  test::read_plain(c.maps.source(c.source), all.last(1), again, target);
  EXPECT_EQ(again, map);
  EXPECT_TRUE(c.fill("", all).done);
  EXPECT_EQ(&c.maps.source(c.source), &c.source);
}

TEST(IntervalMaps, WhatWasStoppedGoesOn) {
  MapsCase c;
  int left = 2;
  c.may_go_on = [&] { return left-- > 0; };
  EXPECT_FALSE(c.fill("relu0", c.all).done);
  c.may_go_on = {};
  const int read = c.source.reads;
  EXPECT_TRUE(c.fill("relu0", c.all).done);
  EXPECT_EQ(c.source.reads - read, 1);  // the last two samples
}

TEST(IntervalMaps, RefusesACutThatIsNone) {
  const MapsCase c;
  EXPECT_EQ(c.maps.cut_named(""), nullptr);
  EXPECT_THROW((void)c.maps.cut_named("fully_connected0"), Error);  // folded with its relu
}

}  // namespace
}  // namespace moil
