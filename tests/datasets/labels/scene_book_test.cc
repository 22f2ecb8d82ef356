#include "datasets/labels/scene_book.h"

#include <optional>

#include "tests/datasets/support.h"

namespace moil::data {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Half of the bits are set, and so many of them are others.
Likeness apart(int bits) {
  Likeness one{0x5555555555555555, 0x5555555555555555};
  for (int i = 0; i < bits; ++i) (i < 64 ? one.across : one.down) ^= std::uint64_t{1} << i % 64;
  return one;
}

TEST(SceneBook, SamplesThatLookAlikeShareASceneOfTheFirstOfThem) {
  SceneBook book({});
  book.add({3, apart(0), 0});
  book.add({4, apart(100), 0});
  book.add({7, apart(5), 0});
  EXPECT_THAT(book.changes(), ElementsAre(Pair(3, 3), Pair(7, 3)));
}

TEST(SceneBook, WhatIsNewJoinsAKnownScene) {
  SceneBook book({{1, apart(0), 0}, {2, apart(40), 2}, {5, apart(44), 2}});
  book.add({9, apart(50), 0});
  EXPECT_THAT(book.changes(), ElementsAre(Pair(9, 2)));
}

// Each is like the next; the first and the last are nothing alike.
TEST(SceneBook, AChainDoesNotJoinEverything) {
  SceneBook book({});
  for (int i = 0; i <= 12; ++i) book.add({i + 1, apart(8 * i), 0});
  std::map<std::int64_t, std::vector<int>> scenes;
  for (const auto& [id, scene] : book.changes()) scenes[scene].push_back(static_cast<int>(id - 1));
  EXPECT_GT(scenes.size(), 1u);
  for (const auto& [scene, steps] : scenes)
    for (const int a : steps)
      for (const int b : steps) EXPECT_LE(distance(apart(8 * a), apart(8 * b)), kWidestScene);
}

TEST(SceneBook, WhatLiesBetweenBringsScenesTogether) {
  SceneBook book({{1, apart(0), 0}, {4, apart(20), 4}, {6, apart(21), 4}});
  book.add({8, apart(10), 0});
  EXPECT_THAT(book.changes(), ElementsAre(Pair(1, 1), Pair(4, 1), Pair(6, 1), Pair(8, 1)));
  SceneBook two({{1, apart(0), 1}, {2, apart(1), 1}, {4, apart(20), 4}, {6, apart(21), 4}});
  two.add({8, apart(10), 0});
  EXPECT_THAT(two.changes(), ElementsAre(Pair(4, 1), Pair(6, 1), Pair(8, 1)));
}

TEST(SceneBook, TheNearestComesFirst) {
  SceneBook book({{1, apart(0), 0}, {2, apart(36), 0}});
  book.add({3, apart(22), 0});  // like the second alone
  book.add(
      {4, apart(14), 0});  // like both, and nearer to the second's; the first is too far from that
  EXPECT_THAT(book.changes(), ElementsAre(Pair(2, 2), Pair(3, 2), Pair(4, 2)));
}

TEST(SceneBook, OneAloneIsOfNoScene) {
  SceneBook book({});
  book.add({1, apart(0), 0});
  EXPECT_THAT(book.changes(), IsEmpty());
}

}  // namespace
}  // namespace moil::data
