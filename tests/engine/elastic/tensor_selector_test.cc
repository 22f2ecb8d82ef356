// The selector against brute force, the paper's own recurrence, and what a graph with branches
// would allow.
#include "engine/elastic/tensor_selector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "base/error.h"

namespace moil {
namespace {

using Entries = std::vector<ElasticEntry>;

// Whole seconds, so that a resolution of one part a second is exact.
Entries random_entries(std::mt19937& random, int count, int most_seconds) {
  std::uniform_int_distribution<int> seconds(0, most_seconds), kind(0, 9);
  std::normal_distribution<double> importance(1, 1.5);
  Entries entries;
  for (int i = 0; i < count; ++i) {
    const bool selectable = kind(random) < 8;
    entries.push_back({selectable ? importance(random) : 0,
                       selectable ? static_cast<double>(seconds(random)) : 0,
                       static_cast<double>(seconds(random)),
                       selectable ? static_cast<double>(seconds(random) / 4) : 0, selectable});
  }
  return entries;
}

double importance_of(const Entries& entries, const std::vector<std::size_t>& selected) {
  double sum = 0;
  for (const auto i : selected) sum += entries[i].importance;
  return sum;
}

// Every subset.
double brute_force(const Entries& entries, double seconds) {
  double best = 0;
  for (unsigned set = 1; set < 1U << entries.size(); ++set) {
    std::vector<std::size_t> selected;
    bool allowed = true;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!(set >> i & 1)) continue;
      allowed = allowed && entries[i].selectable;
      selected.push_back(i);
    }
    if (allowed && backward_seconds(entries, selected) <= seconds)
      best = std::max(best, importance_of(entries, selected));
  }
  return best;
}

// ElasticTrainer §4.2: the best with entry k as the deepest, from the best with each j before it.
double recurrence(const Entries& entries, int seconds) {
  const auto n = entries.size();
  const auto parts = static_cast<std::size_t>(seconds) + 1;
  std::vector<std::vector<double>> best(n, std::vector<double>(parts, -HUGE_VAL));
  double most = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const ElasticEntry& e = entries[k];
    if (!e.selectable) continue;
    for (std::size_t t = 0; t < parts; ++t) {
      double passed = 0;  // Σ t_g from j on
      for (std::size_t j = k; j-- > 0;) {
        passed += entries[j].pass_seconds;
        const double left = static_cast<double>(t) - e.update_seconds - passed;
        if (left >= 0)
          best[k][t] = std::max(best[k][t], best[j][static_cast<std::size_t>(left)] + e.importance);
      }
      if (static_cast<double>(t) >= e.update_seconds + passed)  // alone
        best[k][t] = std::max(best[k][t], e.importance);
    }
    const double left = seconds - e.deepest_seconds;
    if (left >= 0) most = std::max(most, best[k][static_cast<std::size_t>(left)]);
  }
  return most;
}

TEST(TensorSelector, AgreesWithBruteForce) {
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    const Entries entries = random_entries(random, 1 + round % 11, 9);
    const int seconds = std::uniform_int_distribution<int>(0, 60)(random);
    const auto found = select_tensors(entries, seconds, {.resolution = std::max(1, seconds)});
    EXPECT_NEAR(found.importance, brute_force(entries, seconds), 1e-9) << "round " << round;
    EXPECT_NEAR(found.importance, importance_of(entries, found.entries), 1e-9);
    EXPECT_LE(backward_seconds(entries, found.entries), seconds);
    EXPECT_TRUE(std::is_sorted(found.entries.begin(), found.entries.end()));
  }
}

TEST(TensorSelector, AgreesWithThePapersRecurrence) {
  std::mt19937 random(2);
  for (int round = 0; round < 40; ++round) {
    const Entries entries = random_entries(random, 60, 20);
    const int seconds = std::uniform_int_distribution<int>(1, 700)(random);
    const auto found = select_tensors(entries, seconds, {.resolution = seconds});
    EXPECT_NEAR(found.importance, recurrence(entries, seconds), 1e-9) << "round " << round;
  }
}

// Times of any size: never longer than allowed, and as good as what is possible in a thousandth
// less.
TEST(TensorSelector, RoundsTimesUp) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> scale(1e-7, 1e-4), share(0.1, 1.2);
  for (int round = 0; round < 200; ++round) {
    Entries entries = random_entries(random, 10, 9);
    const double unit = scale(random);
    double all = 0;
    for (auto& e : entries) {
      e.update_seconds *= unit, e.pass_seconds *= unit, e.deepest_seconds *= unit;
      all += e.update_seconds + e.pass_seconds;
    }
    const double seconds = share(random) * all;
    const auto found = select_tensors(entries, seconds);
    EXPECT_LE(backward_seconds(entries, found.entries), seconds);
    EXPECT_GE(found.importance, brute_force(entries, seconds * 0.999) - 1e-9);
  }
}

// However few parts the time is cut into: what is left of a part counts as a whole one.
TEST(TensorSelector, NeverTakesLongerThanAllowedByPartsOfAPart) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> stretch(0.7, 1.6);
  for (int round = 0; round < 200; ++round) {
    Entries entries = random_entries(random, 8, 3);
    for (auto& e : entries) {
      for (double* time : {&e.update_seconds, &e.pass_seconds, &e.deepest_seconds})
        *time *= stretch(random);
    }
    const auto found = select_tensors(entries, 9, {.resolution = 1 + round % 9});
    EXPECT_LE(backward_seconds(entries, found.entries), 9) << "round " << round;
  }
}

TEST(TensorSelector, WhatIsNotWorthItsTimeIsLeft) {
  const auto found = select_tensors(Entries{{-1, 1, 1}, {0, 1, 1}, {2, 1, 1}}, 100);
  EXPECT_EQ(found.entries, std::vector<std::size_t>{2});
  EXPECT_DOUBLE_EQ(found.seconds, 3);
}

TEST(TensorSelector, NothingFits) {
  EXPECT_TRUE(select_tensors(Entries{{1, 2, 0}}, 1).entries.empty());
  EXPECT_TRUE(select_tensors(Entries{{1, 2, 0}}, 0).entries.empty());
  EXPECT_TRUE(select_tensors(Entries{}, 1).entries.empty());
  EXPECT_EQ(select_tensors(Entries{{1, 0, 0}}, 0).entries.size(), 1U);  // takes no time
}

TEST(TensorSelector, TheBestThatFits) {
  const Entries entries = {{1, 1, 1}, {2, 1, 1}, {4, 1, 1}};
  std::vector<std::size_t> asked;
  const auto shallow = [&](const ElasticSelection& selection) {
    asked.push_back(selection.entries.back());
    return selection.entries.back() < 2;
  };
  const auto found = select_tensors(entries, 100, {.fits = shallow});
  EXPECT_EQ(asked, (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(found.entries, (std::vector<std::size_t>{0, 1}));
}

TEST(TensorSelector, RefusesNonsense) {
  EXPECT_THROW((void)select_tensors(Entries{{1, -1, 0}}, 1), Error);
  EXPECT_THROW((void)select_tensors(Entries{{1, 1, NAN}}, 1), Error);
  EXPECT_THROW((void)select_tensors(Entries{{NAN, 1, 0}}, 1), Error);
  EXPECT_THROW((void)select_tensors(Entries{{1, 1, 0}}, -1), Error);
  EXPECT_THROW((void)select_tensors(Entries{{1, 1, 0}}, INFINITY), Error);
  EXPECT_THROW((void)select_tensors(Entries{{1, 1, 0}}, 1, {.resolution = 0}), Error);
}

}  // namespace
}  // namespace moil
