#include "daemon/predict/timeline.h"

#include <gmock/gmock.h>

namespace moil::night {
namespace {

using Labels = std::vector<std::uint32_t>;

constexpr data::PartPlaces kPlaces{0.5, 1, 3.2, "seconds"};

std::vector<float> of(float probability) { return {probability, probability / 2}; }

MATCHER_P4(IsHeard, from, to, label, probability, "") {
  return arg.from == from && arg.to == to && arg.label == static_cast<std::uint32_t>(label) &&
         arg.probability == probability;
}

// A weak part between two that say it leaves no time without it.
TEST(Timeline, IntervalsOfALabelLieApart) {
  Timeline timeline(kPlaces, 100);
  for (const std::uint32_t part : {0U, 2U, 5U}) timeline.add(part, Labels{0}, of(0.5F));
  EXPECT_THAT(timeline.take().heard,
              ::testing::ElementsAre(IsHeard(0.0, 2, 0, 0.5F), IsHeard(2.5, 3.2, 0, 0.5F)));
  // If parts do not overlap, one that does not say it is a gap.
  Timeline apart({1, 1, 9, "seconds"}, 100);
  for (const std::uint32_t part : {0U, 1U, 3U}) apart.add(part, Labels{0}, of(0.5F));
  EXPECT_THAT(apart.take().heard,
              ::testing::ElementsAre(IsHeard(0.0, 2, 0, 0.5F), IsHeard(3, 4, 0, 0.5F)));
}

TEST(Timeline, NeighbouringPartsAreOneInterval) {
  Timeline timeline(kPlaces, 100);
  timeline.add(0, Labels{}, of(0.1F));
  timeline.add(1, Labels{0}, of(0.75F));
  timeline.add(2, Labels{0, 1}, of(0.875F));
  timeline.add(3, Labels{1}, of(0.5F));
  timeline.add(5, Labels{0}, of(0.625F));
  const auto told = timeline.take();
  EXPECT_THAT(told.heard,
              ::testing::ElementsAre(IsHeard(0.5, 2, 0, 0.875F), IsHeard(1, 2.5, 1, 0.4375F),
                                     IsHeard(2.5, 3.2, 0, 0.625F)));
  EXPECT_EQ(told.more, 0U);
}

// A word is told once; again if it was not said for longer than a part.
TEST(Timeline, TellsWhatBegins) {
  Timeline timeline(kPlaces, 0);
  EXPECT_EQ(timeline.add(0, Labels{}, of(0.1F)), Labels{});
  EXPECT_EQ(timeline.add(1, Labels{0}, of(0.5F)), Labels{0});
  EXPECT_EQ(timeline.add(2, Labels{0, 1}, of(0.9F)), Labels{1});
  EXPECT_EQ(timeline.add(4, Labels{0}, of(0.5F)), Labels{}) << "it touches the one before";
  EXPECT_EQ(timeline.add(5, Labels{1}, of(0.5F)), Labels{1});
  EXPECT_EQ(timeline.add(7, Labels{0, 1}, of(0.5F)), Labels{0});
}

TEST(Timeline, IsBoundedAndCountsWhatIsLeftOut) {
  Timeline timeline(kPlaces, 2);
  for (std::uint32_t part = 0; part < 15; part += 3) timeline.add(part, Labels{0}, of(0.5F));
  const auto told = timeline.take();
  EXPECT_THAT(told.heard,
              ::testing::ElementsAre(IsHeard(0.0, 1, 0, 0.5F), IsHeard(1.5, 2.5, 0, 0.5F)));
  EXPECT_EQ(told.more, 3U);
}

TEST(Timeline, SaysNothingOfSilence) {
  Timeline timeline(kPlaces, 2);
  timeline.add(0, Labels{}, of(0.1F));
  EXPECT_TRUE(timeline.take().heard.empty());
}

}  // namespace
}  // namespace moil::night
