#include "engine/elastic/selection_memory.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace moil {
namespace {

// Four layers of two weights, from the input on.
TimingProfile profile_of_four() {
  TimingProfile profile;
  for (const char* layer : {"a", "b", "c", "d"}) {
    LayerTiming timing;
    timing.layer = layer;
    for (const char* weight : {".weight", ".bias"}) {
      timing.weights.emplace_back();
      timing.weights.back().name = timing.layer + weight;
    }
    profile.layers.push_back(timing);
  }
  return profile;
}

const std::set<std::string> kAll = {"a.bias",   "a.weight", "b.bias",  "b.weight",
                                    "c.weight", "d.bias",   "d.weight"};

// Of a hundred in all of kAll, so much each of layers a and b.
std::map<std::string, double> importance(double of_a, double of_b) {
  return {{"a.bias", of_a},
          {"a.weight", 0},
          {"b.bias", -1},
          {"b.weight", of_b},
          {"c.weight", 30.0},
          {"d.bias", 20.0},
          {"d.weight", 50.0 - of_a - of_b}};
}

std::size_t count_of(const std::set<std::string>& selection) { return selection.size(); }

std::set<std::string> lightened_to(std::size_t most, double of_a, double of_b) {
  return lightened(kAll, profile_of_four(), importance(of_a, of_b), most, count_of);
}

TEST(SelectionMemory, LeavesWhatFitsAsItIs) { EXPECT_EQ(lightened_to(7, 1, 1), kAll); }

TEST(SelectionMemory, LeavesOutDeepestLayersAsFarAsNeeded) {
  EXPECT_EQ(lightened_to(6, 1, 1),
            (std::set<std::string>{"b.bias", "b.weight", "c.weight", "d.bias", "d.weight"}));
  EXPECT_EQ(lightened_to(3, 1, 1), (std::set<std::string>{"c.weight", "d.bias", "d.weight"}));
}

TEST(SelectionMemory, GivesUpNoMoreThanATwentiethOfTheImportance) {
  EXPECT_EQ(lightened_to(1, 1, 1), (std::set<std::string>{"c.weight", "d.bias", "d.weight"}));
  EXPECT_EQ(lightened_to(1, 3, 3).count("b.weight"), 1);
  EXPECT_EQ(lightened_to(1, 3, 3).count("a.bias"), 0);
  EXPECT_EQ(lightened_to(1, 6, 1), kAll);
}

TEST(SelectionMemory, NeverLeavesOutEverything) {
  const std::set<std::string> one = {"a.weight"};
  EXPECT_EQ(lightened(one, profile_of_four(), importance(1, 1), 0, count_of), one);
}

TEST(SelectionMemory, IsLastAskedOfWhatItReturns) {
  for (const double of_a : {1.0, 6.0}) {
    std::set<std::string> asked;
    const auto found = lightened(kAll, profile_of_four(), importance(of_a, 1), 6,
                                 [&](const std::set<std::string>& selection) {
                                   asked = selection;
                                   return selection.size();
                                 });
    EXPECT_EQ(asked, found);
  }
}

TEST(SelectionMemory, AsksForTheImportanceOfWhatIsSelected) {
  EXPECT_THROW((void)lightened(kAll, profile_of_four(), {}, 1, count_of), std::out_of_range);
}

TEST(SelectionMemory, AllMemoryWhereThereIsAllTime) {
  EXPECT_EQ(most_selection_bytes(1, 3200), 3200);
  EXPECT_EQ(most_selection_bytes(0.5, 3200), 3100);
}

}  // namespace
}  // namespace moil
