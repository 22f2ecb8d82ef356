#include "engine/elastic/map_maker.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>

#include "engine/model/realizers/realizers.h"
#include "engine/train/trainer.h"
#include "tests/engine/train/plain_batch.h"
#include "tests/engine/train/toy_source.h"

namespace moil {
namespace {

using test::ToySource;

constexpr std::int64_t kMadeFeatures = 12, kMadeSamples = 11;

// Statistics and gammas that are not those of a fresh batch norm.
struct Made {
  explicit Made(std::int64_t batch)
      : model(test::ModelBuilder({kMadeFeatures}).fc(6).norm().relu().fc(3).model()),
        graph(build_graph(training_plan_input(model, nullptr, TrainerConfig{}).model, 4)),
        cuts(tail_cuts(model, graph)),
        weights(test::random_weights(model, 3)),
        kernels(test::fixed_kernels()),
        source(kMadeSamples, kMadeFeatures),
        maps(std::filesystem::temp_directory_path(), "relu0", {kMadeSamples, 6, 3}),
        maker(model, cuts.at(0), weights, {batch}, kernels) {
    std::iota(all.begin(), all.end(), 0);
  }
  std::vector<float> read(std::span<const std::int64_t> indices, bool targets) {
    std::vector<float> map(6 * indices.size()), target(3 * indices.size());
    test::read_plain(maps, indices, map, target);
    return targets ? target : map;
  }

  ModelDescription model;
  Graph graph;
  std::vector<TailCut> cuts;
  WeightMap weights;
  KernelSelector kernels;
  ToySource source;
  CachedMaps maps;
  MapMaker maker;
  std::vector<std::int64_t> all = std::vector<std::int64_t>(kMadeSamples);
};

// What the frozen network gives, which is what a step would compute.
TEST(MapMaker, MapsAreTheNetworksWithItsStatistics) {
  Made made(4);
  ASSERT_TRUE(made.maker.make(made.source, made.all, made.maps, {}));
  const ModelDescription before =
      realize_frozen(realize_slice(made.model, "relu0", {6}).backbone, {});
  KernelSelector kernels = test::fixed_kernels();
  Network network(before, {.batch = kMadeSamples, .plan = {}}, kernels);
  network.allocate();
  network.load(made.weights);
  std::vector<float> targets(3 * kMadeSamples);
  const std::span inputs(network.input(0), static_cast<std::size_t>(kMadeSamples * kMadeFeatures));
  test::read_plain(made.source, made.all, inputs, targets);
  network.forward();
  const std::vector<float> maps = made.read(made.all, false);
  for (std::size_t i = 0; i < maps.size(); ++i)
    EXPECT_NEAR(maps[i], network.output(0)[i], 1e-5F * (1 + std::abs(maps[i])));
  EXPECT_EQ(made.read(made.all, true), targets);
}

// A run that is resumed makes them in other batches.
TEST(MapMaker, AMapIsTheSameInEveryBatch) {
  Made whole(4), parts(3);
  ASSERT_TRUE(whole.maker.make(whole.source, whole.all, whole.maps, {}));
  const std::vector<std::int64_t> some = {9, 2, 3, 5};
  ASSERT_TRUE(parts.maker.make(parts.source, some, parts.maps, {}));
  EXPECT_EQ(whole.read(some, false), parts.read(some, false));
  const auto missing = parts.maps.missing(parts.all);
  EXPECT_EQ(missing, (std::vector<std::int64_t>{0, 1, 4, 6, 7, 8, 10}));
  ASSERT_TRUE(parts.maker.make(parts.source, missing, parts.maps, {}));
  EXPECT_EQ(whole.read(whole.all, false), parts.read(parts.all, false));
}

// Its convolutions are not packed then, and the maps are the same but for rounding.
TEST(MapMaker, KeepsToItsMemory) {
  const ModelDescription model = test::ModelBuilder({3, 8, 8})
                                     .conv(64, 3)
                                     .norm()
                                     .relu()
                                     .conv(64, 3)
                                     .relu()
                                     .layer("flatten")
                                     .fc(3)
                                     .model();
  const Graph graph = build_graph(training_plan_input(model, nullptr, TrainerConfig{}).model, 4);
  const std::vector<TailCut> cuts = tail_cuts(model, graph);
  const auto cut = std::ranges::find(cuts, "relu1", [](const TailCut& c) { return c.cut.value; });
  ASSERT_NE(cut, cuts.end());
  const WeightMap before = test::random_weights(model, 3);
  WeightMap weights = before;
  std::vector<std::int64_t> all(kMadeSamples);
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::vector<float>> made;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1} << 30}) {
    KernelSelector kernels = test::fixed_kernels();
    ToySource source(kMadeSamples, 3 * 8 * 8);
    CachedMaps maps(std::filesystem::temp_directory_path(), "relu1",
                    {kMadeSamples, static_cast<std::size_t>(cut->elements), 3});
    {
      MapMaker maker(model, *cut, weights, {4, bytes}, kernels);
      EXPECT_EQ(weights.contains("conv2d0.weight"), bytes > 0);  // has them instead of copies
      ASSERT_TRUE(maker.make(source, all, maps, {}));
    }
    ASSERT_EQ(weights.size(), before.size());
    for (const auto& [name, tensor] : before) EXPECT_EQ(weights.at(name).data, tensor.data) << name;
    std::vector<float> map(cut->elements * all.size()), target(3 * all.size());
    test::read_plain(maps, all, map, target);
    made.push_back(std::move(map));
  }
  for (std::size_t i = 0; i < made[0].size(); ++i)
    EXPECT_NEAR(made[0][i], made[1][i], 1e-4F * (1 + std::abs(made[1][i])));
}

TEST(MapMaker, StopsBetweenBatches) {
  Made made(4);
  int asked = 0;
  EXPECT_FALSE(made.maker.make(made.source, made.all, made.maps, [&] { return ++asked < 3; }));
  EXPECT_EQ(made.maps.missing(made.all).size(), static_cast<std::size_t>(kMadeSamples - 2 * 4));
}

}  // namespace
}  // namespace moil
