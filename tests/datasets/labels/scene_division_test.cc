#include "datasets/labels/scene_division.h"

#include <algorithm>
#include <set>

#include "base/random.h"
#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// Half of the bits are set, and so many of them are others.
Likeness apart(int bits) {
  Likeness one{0x5555555555555555, 0x5555555555555555};
  for (int i = 0; i < bits; ++i) (i < 64 ? one.across : one.down) ^= std::uint64_t{1} << i % 64;
  return one;
}

// The id is the order by content, too.
SceneMember member(std::int64_t id, std::optional<int> bits) {
  SceneMember made{id, {}, {}, {}, 0};
  made.digest.bytes[0] = static_cast<std::uint8_t>(id);
  if (bits) made.likeness = apart(*bits);
  return made;
}

using ScenesOfSamples = std::set<std::vector<std::int64_t>>;

ScenesOfSamples divided(std::vector<SceneMember> samples) {
  ScenesOfSamples found;
  for (const auto& scene : divided_into_scenes(std::move(samples))) {
    std::vector<std::int64_t> ids;
    for (const SceneMember& sample : scene) ids.push_back(sample.id);
    std::ranges::sort(ids);
    found.insert(ids);
  }
  return found;
}

using Ids = std::vector<std::int64_t>;

TEST(SceneDivision, SamplesThatLookAlikeShareAScene) {
  EXPECT_THAT(divided({member(3, 0), member(4, 100), member(7, 5)}),
              ElementsAre(Ids{3, 7}, Ids{4}));
}

TEST(SceneDivision, WhatLooksLikeNothingIsAlone) {
  EXPECT_THAT(divided({member(1, {}), member(2, {}), member(3, 0)}),
              ElementsAre(Ids{1}, Ids{2}, Ids{3}));
}

// Each is like the next; the first and the last are nothing alike.
TEST(SceneDivision, AChainDoesNotJoinEverything) {
  std::vector<SceneMember> chain;
  for (int i = 0; i <= 12; ++i) chain.push_back(member(i + 1, 8 * i));
  const ScenesOfSamples scenes = divided(chain);
  EXPECT_GT(scenes.size(), 1u);
  EXPECT_LT(scenes.size(), 8u);
  for (const Ids& scene : scenes) EXPECT_LE(8 * (scene.back() - scene.front()), kWidestScene);
}

TEST(SceneDivision, WhatLiesBetweenBringsScenesTogether) {
  EXPECT_THAT(divided({member(1, 0), member(4, 20), member(6, 21)}),
              ElementsAre(Ids{1}, Ids{4, 6}));
  EXPECT_THAT(divided({member(1, 0), member(4, 20), member(6, 21), member(8, 10)}),
              ElementsAre(Ids{1, 4, 6, 8}));
}

TEST(SceneDivision, TheNearestComesFirst) {
  EXPECT_THAT(divided({member(1, 0), member(2, 36), member(3, 22), member(4, 14)}),
              UnorderedElementsAre(Ids{1}, Ids{2, 3, 4}));
}

TEST(SceneDivision, PiecesOfARecordingAreWithItHoweverTheyLook) {
  auto piece = member(2, 100), other = member(3, {}), of_piece = member(4, {});
  piece.recording = other.recording = member(1, {}).digest;
  of_piece.recording = piece.digest;
  EXPECT_THAT(divided({of_piece, other, piece, member(1, 0), member(5, {})}),
              ElementsAre(Ids{1, 2, 3, 4}, Ids{5}));
  EXPECT_THAT(divided({other, piece}), ElementsAre(Ids{2, 3}))
      << "the recording itself is not here";
}

TEST(SceneDivision, NoOrderMatters) {
  Random random(1);
  for (int world = 0; world < 50; ++world) {
    std::vector<SceneMember> samples;
    for (int i = 0; i < 40; ++i) {
      samples.push_back(member(i + 1, static_cast<int>(random.below(128))));
      if (random.below(10) == 0)
        samples.back().recording = samples[random.below(samples.size())].digest;
    }
    const ScenesOfSamples first = divided(samples);
    EXPECT_GT(first.size(), 1u);
    random.shuffle(std::span(samples));
    EXPECT_EQ(divided(samples), first);
  }
}

}  // namespace
}  // namespace moil::data
