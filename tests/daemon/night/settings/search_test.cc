#include "daemon/night/settings/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace moil::night {
namespace {

// How good a model is where each candidate is trained: what trials would find.
using Truth = std::function<std::pair<double, double>(const Candidate&)>;

// The same of every part.
Quality alike(double value) {
  return {std::vector<double>(16, value), std::vector<double>(16, value)};
}

SearchSpace space() {
  SearchSpace space;
  space.depths = {1, 16, std::nullopt};
  space.classifier_rate = 0.03;
  space.deep_rate = 0.02;
  space.rates = true;
  space.views = {1, 4};
  space.before = alike(0.8);
  space.most_global_drop = 0.03;
  return space;
}

// Parts differ as samples do, and alike for every candidate: figures are paired.
Quality parts_around(double value) {
  std::mt19937 random(7);
  std::vector<double> parts;
  for (int i = 0; i < 16; ++i)
    parts.push_back(value + 0.1 * (static_cast<double>(random() % 1000) / 1000 - 0.5));
  return {parts, parts};
}

Search searched(const SearchSpace& space, const Truth& truth, double seconds = 1e9) {
  Search search(space);
  double left = seconds;
  while (const auto candidate = search.next(left)) {
    const auto [local, global] = truth(*candidate);
    search.add({*candidate, parts_around(local), parts_around(global), 1, ""});
    left -= 1;
    if (search.results().size() > 50) throw std::runtime_error("the search does not end");
  }
  return search;
}

double peak_at(double best, double rate) {
  const double off = std::log(rate / best);
  return -0.02 * off * off;
}

TEST(Search, WhatCannotBeHadGivesWayToTheNextBestAndToTheCheapestAtLast) {
  Search search = searched(space(), [](const Candidate& c) {
    return std::pair(!c.layers ? 0.95 : (*c.layers == 16 ? 0.8 : 0.5), 0.8);
  });
  std::vector<int> depths;
  while (search.choice().candidate != search.cheapest()) {
    const Candidate best = search.choice().candidate;
    depths.push_back(best.layers.value_or(100));
    search.give_up(best, "over the budget");
    ASSERT_NE(search.choice().candidate, best);
    ASSERT_LE(depths.size(), search.results().size());
  }
  EXPECT_TRUE(std::ranges::is_sorted(depths, std::greater<>()));
  EXPECT_GE(std::set<int>(depths.begin(), depths.end()).size(), 2U) << "both deeper heads";
}

TEST(Search, WhatCannotBeToldApartGoesToTheCheapest) {
  const auto search = searched(space(), [](const Candidate&) { return std::pair(0.9, 0.8); });
  EXPECT_EQ(search.choice().candidate.layers, 1);
}

TEST(Search, DeeperIsTakenWhereItPaysAndNoFurther) {
  const auto search = searched(space(), [](const Candidate& c) {
    return std::pair(c.layers == 1 ? 0.7 : c.layers == 16 ? 0.9 : 0.85, 0.8);
  });
  EXPECT_EQ(search.choice().candidate.layers, 16);
  const auto shallow = searched(
      space(), [](const Candidate& c) { return std::pair(c.layers == 1 ? 0.9 : 0.85, 0.8); });
  EXPECT_EQ(shallow.choice().candidate.layers, 1);
  for (const TrialResult& r : shallow.results())
    EXPECT_TRUE(r.candidate.layers) << "all layers were tried although 16 were worse than 1";
}

TEST(Search, RatesAreFollowedToWhereTheyAreBest) {
  for (const double best : {0.01, 0.03, 0.2}) {
    const auto search = searched(space(), [&](const Candidate& c) {
      return std::pair(0.8 + peak_at(best, c.learning_rate), 0.8);
    });
    EXPECT_LT(std::abs(std::log(search.choice().candidate.learning_rate / best)), std::log(3.1))
        << best;
  }
}

TEST(Search, ViewsAreTakenWhereTheyDoNoHarm) {
  const Truth pays = [](const Candidate& c) {
    return std::pair(0.7 + (c.layers == 1 ? 0 : 0.1) + (c.views > 1 ? 0.05 : 0), 0.8);
  };
  EXPECT_EQ(searched(space(), pays).choice().candidate.views, 4);
  const Truth indifferent = [](const Candidate& c) {
    return std::pair(c.layers == 1 ? 0.7 : 0.8, 0.8);
  };
  EXPECT_EQ(searched(space(), indifferent).choice().candidate.views, 4);
  const Truth mirrors = [](const Candidate& c) {
    return std::pair(0.7 + (c.layers == 1 ? 0 : 0.1) - (c.views > 1 ? 0.05 : 0), 0.8);
  };
  EXPECT_EQ(searched(space(), mirrors).choice().candidate.views, 1);
}

TEST(Search, SamplesAreDrawnByImportanceOnlyWhereThatIsSeenToPay) {
  const auto by_importance = [](const Candidate& c) {
    return c.sampling == daemon::Sampling::kImportance;
  };
  SearchSpace open = space();
  open.sampling = true;
  const auto gaining = [&](double gain) {
    return searched(open, [&, gain](const Candidate& c) {
      return std::pair(0.8 + (by_importance(c) ? gain : 0), 0.8);
    });
  };
  const Search pays = gaining(0.05);
  EXPECT_TRUE(by_importance(pays.choice().candidate));
  EXPECT_THAT(pays.choice().why, ::testing::HasSubstr("importance"));
  for (const double gain : {0.0, -0.05}) {
    const Search search = gaining(gain);
    EXPECT_FALSE(by_importance(search.choice().candidate)) << gain;
    EXPECT_EQ(std::ranges::count_if(search.results(), by_importance, &TrialResult::candidate), 1)
        << gain;
  }
  const auto closed =
      searched(space(), [&](const Candidate& c) { return std::pair(by_importance(c), 0.8); });
  EXPECT_FALSE(by_importance(closed.choice().candidate));
}

TEST(Search, AThriftySearchCostsNoMoreThanItIsFor) {
  SearchSpace thrifty = space();
  thrifty.thrifty = true;
  const auto rates_of = [](const Search& search, const Depth& depth) {
    std::set<double> rates;
    for (const TrialResult& r : search.results())
      if (r.candidate.layers == depth) rates.insert(r.candidate.learning_rate);
    return rates.size();
  };
  const Truth deep = [](const Candidate& c) {
    return std::pair(c.layers == 1 ? 0.7 : c.layers == 16 ? 0.9 : 0.85, 0.8);
  };
  EXPECT_EQ(rates_of(searched(thrifty, deep), 16), 1U);
  EXPECT_EQ(rates_of(searched(space(), deep), 16), 3U);
  thrifty.depths = {16};
  thrifty.views = {4};
  EXPECT_EQ(rates_of(searched(thrifty, deep), 16), 2U) << "of two trials the winner's is one";
  const Truth forgets = [](const Candidate& c) {
    return std::pair(0.9, c.learning_rate > 0.01 ? 0.7 : 0.8);
  };
  const Search careful = searched(thrifty, forgets);
  EXPECT_LT(careful.choice().candidate.learning_rate, 0.01) << "what the guard lets pass";
}

TEST(Search, WhatForgetsMoreThanTheGuardAllowsIsNotTaken) {
  const auto search = searched(space(), [](const Candidate& c) {
    return std::pair(c.layers == 1 ? 0.8 : 0.99, c.layers == 1 ? 0.79 : 0.7);
  });
  EXPECT_EQ(search.choice().candidate.layers, 1);
}

TEST(Search, WhatIsSetIsNotSearched) {
  SearchSpace fixed = space();
  fixed.depths = {3};
  fixed.rates = false;
  fixed.classifier_rate = fixed.deep_rate = 0.5;
  fixed.views = {2};
  const auto search = searched(fixed, [](const Candidate&) { return std::pair(0.9, 0.8); });
  ASSERT_EQ(search.results().size(), 1U);
  EXPECT_EQ(search.choice().candidate, (Candidate{3, 0.5, 2}));
}

TEST(Search, EndsWithItsTime) {
  const auto search = searched(
      space(), [](const Candidate&) { return std::pair(0.9, 0.8); }, 3);
  EXPECT_LE(search.results().size(), 3U);
  EXPECT_GE(search.results().size(), 1U);
}

TEST(Search, WithoutATrialTheCheapestIsTakenAndSaidSo) {
  Search search(space());
  search.add({{1, 0.03, 1}, {}, {}, 5, "there was no time left to end it"});
  EXPECT_EQ(search.choice().candidate, (Candidate{1, 0.03, 1}));
  EXPECT_THAT(search.choice().why, ::testing::HasSubstr("too little"));
}

TEST(Search, ResultsAreReadAsTheyWereWritten) {
  const TrialResult result{{std::nullopt, 0.01, 4}, {{0.5, 1}, {-3}}, {{0.25}, {0.5}}, 2.5, "why"};
  const TrialResult read = trial_result_from_json(to_json(result));
  EXPECT_EQ(read.candidate, result.candidate);
  EXPECT_EQ(read.local.headline, result.local.headline);
  EXPECT_EQ(read.local.fine, result.local.fine);
  EXPECT_EQ(read.global.fine, result.global.fine);
  EXPECT_EQ(read.seconds, 2.5);
  EXPECT_EQ(read.failed, "why");
}

}  // namespace
}  // namespace moil::night
