#include "datasets/sampling/scenes.h"

#include <algorithm>
#include <map>
#include <set>

#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using test::expect_error;
using ::testing::ElementsAre;

MixedSample sample(std::int64_t scene, std::vector<ClassId> labels = {0},
                   Source source = Source::kLocal) {
  MixedSample made;
  made.ref.source = source;
  made.scene = scene;
  made.labels = std::move(labels);
  return made;
}

// Scenes of `frames` samples each, `per_class` of a class.
std::vector<MixedSample> scenes(std::size_t classes, std::size_t per_class, std::size_t frames) {
  std::vector<MixedSample> samples;
  for (std::size_t i = 0; i < classes * per_class * frames; ++i) {
    const std::size_t scene = i / frames;
    samples.push_back(
        sample(static_cast<std::int64_t>(scene + 1), {static_cast<ClassId>(scene / per_class)}));
  }
  return samples;
}

TEST(SceneGroups, SamplesOfASceneShareANumber) {
  const std::vector samples{sample(7), sample(kOwnScene), sample(3),
                            sample(7), sample(kOwnScene), sample(7, {0}, Source::kGlobal)};
  EXPECT_THAT(scene_groups(samples), ElementsAre(0, 1, 2, 0, 3, 4));
  EXPECT_TRUE(scene_groups({}).empty());
}

TEST(FoldsByScene, ASceneIsNeverSplit) {
  const auto samples = scenes(3, 7, 4);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto folds = folds_by_scene(samples, 5, seed);
    ASSERT_EQ(folds.size(), samples.size());
    std::map<std::int64_t, std::set<std::size_t>> of_scene;
    for (std::size_t i = 0; i < folds.size(); ++i) of_scene[samples[i].scene].insert(folds[i]);
    for (const auto& [scene, in] : of_scene) EXPECT_EQ(in.size(), 1u) << scene;
    EXPECT_LT(*std::ranges::max_element(folds), 5u);
  }
}

// 7 scenes of a class over 5 folds: one or two in each, and of all 21 scenes four or five.
TEST(FoldsByScene, EveryLabelIsSpreadEvenly) {
  const auto samples = scenes(3, 7, 4);
  const auto folds = folds_by_scene(samples, 5, 11);
  std::map<std::pair<std::size_t, ClassId>, std::size_t> of_class;
  std::map<std::size_t, std::size_t> all;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    ++of_class[{folds[i], samples[i].labels[0]}];
    ++all[folds[i]];
  }
  EXPECT_EQ(of_class.size(), 15u) << "a label is missing from a fold";
  for (const auto& [key, n] : of_class) EXPECT_TRUE(n == 4 || n == 8) << n;
  for (const auto& [fold, n] : all) EXPECT_TRUE(n == 16 || n == 20) << n;
}

// One scene of forty frames and forty single samples: nobody shares its fold without need.
TEST(FoldsByScene, ALargeSceneIsEvenedOut) {
  std::vector<MixedSample> samples(40, sample(5));
  for (int i = 0; i < 40; ++i) samples.push_back(sample(kOwnScene));
  const auto folds = folds_by_scene(samples, 3, 1);
  std::map<std::size_t, int> sizes;
  for (const std::size_t fold : folds) ++sizes[fold];
  EXPECT_EQ(sizes[folds[0]], 40);
  for (const auto& [fold, n] : sizes) EXPECT_TRUE(n == 40 || n == 20) << n;
}

TEST(FoldsByScene, TheSeedDecidesAndNothingElse) {
  auto samples = scenes(4, 10, 1);
  const auto first = folds_by_scene(samples, 4, 1);
  EXPECT_EQ(folds_by_scene(samples, 4, 1), first);
  EXPECT_NE(folds_by_scene(samples, 4, 2), first);
  for (auto& s : samples) s.scene += 1000;  // other ids of the same scenes
  EXPECT_EQ(folds_by_scene(samples, 4, 1), first);
}

TEST(FoldsByScene, TakesSamplesOfManyLabelsAndOfNone) {
  const std::vector samples{sample(kOwnScene, {0, 1}), sample(kOwnScene, {1, 2}),
                            sample(kOwnScene, {}), sample(kOwnScene, {0, 2})};
  const auto folds = folds_by_scene(samples, 2, 3);
  EXPECT_EQ(std::ranges::count(folds, 0u), 2);
  expect_error(ErrorCode::kInvalidArgument, {"2 or more"},
               [&] { (void)folds_by_scene(samples, 1, 3); });
}

}  // namespace
}  // namespace moil::data
