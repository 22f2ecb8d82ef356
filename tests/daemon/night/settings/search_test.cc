#include "daemon/night/settings/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace moil::night {
namespace {

// How good a model is where each candidate is trained: what trials would find.
using Truth = std::function<std::pair<double, double>(const Candidate&)>;

// The same of every sample.
Quality alike(double value) {
  return {std::vector<double>(16, value), std::vector<double>(16, value)};
}

SearchSpace space() {
  SearchSpace space;
  space.depths = {1, 3, 16, std::nullopt};
  space.deep = 2;
  space.classifier_rate = 0.03;
  space.deep_rate = 0.02;
  space.rates = true;
  space.views = {1, 2};
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

TEST(Search, ADepthBetweenIsTriedWhereDeepDoesNotPay) {
  const auto search = searched(space(), [](const Candidate& c) {
    return std::pair(c.layers == 1 ? 0.8 : c.layers == 3 ? 0.9 : 0.7, 0.8);
  });
  EXPECT_EQ(search.choice().candidate.layers, 3);
}

TEST(Search, ViewsAreTakenWhereTheyDoNoHarm) {
  const auto views_where = [](double two, double one) {
    const Search search = searched(space(), [&](const Candidate& c) {
      return std::pair(c.layers == 1 ? 0.7 : c.views == 2 ? two : one, 0.8);
    });
    const bool tried_one = std::ranges::any_of(search.results(), [](const TrialResult& r) {
      return r.candidate.layers == 16 && r.candidate.views == 1;
    });
    return std::pair(search.choice().candidate.views, tried_one);
  };
  EXPECT_EQ(views_where(0.8, 0.7), std::pair(2, false)) << "clearly better than the classifier";
  EXPECT_EQ(views_where(0.7, 0.8), std::pair(1, true)) << "as mirrored digits are";
  EXPECT_EQ(views_where(0.6, 0.6), std::pair(1, true)) << "the classifier's";
}

// Surer is not better: long training raises the fine figure of what was right before.
TEST(Search, AClassifierTrainsLongOnlyIfItIsRightMoreOften) {
  const auto steps_where = [](double few, double many) {
    SearchSpace classifier = space();
    classifier.depths = {1};
    classifier.deep = 0;
    classifier.classifier_steps = {kFewClassifierSteps, kClassifierSteps};
    Search search(classifier);
    while (const auto c = search.next(1e9)) {
      const bool is_long = c->steps == kClassifierSteps;
      Quality local{parts_around(is_long ? many : few).headline, alike(is_long ? -0.1 : -0.2).fine};
      search.add({*c, local, alike(0.8), 1, ""});
    }
    EXPECT_EQ(search.results().size(), 2U);
    return search.choice().candidate.steps;
  };
  EXPECT_EQ(steps_where(0.8, 0.8), kFewClassifierSteps);
  EXPECT_EQ(steps_where(0.5, 0.8), kClassifierSteps) << "outputs that the network had, elsewhere";
}

std::size_t rates_of(const Search& search, const Depth& depth) {
  std::set<double> rates;
  for (const TrialResult& r : search.results())
    if (r.candidate.layers == depth) rates.insert(r.candidate.learning_rate);
  return rates.size();
}

// Nothing is begun whose arithmetic, at the pace of the trials so far, takes longer than is left.
TEST(Search, WhatTakesTooLongByItsArithmeticIsNotTried) {
  SearchSpace costly = space();
  costly.work = [](const Candidate& c) { return c.layers ? *c.layers * c.views : 1000.0; };
  const auto tried = [&](double seconds) {
    Search search(costly);
    std::vector<std::pair<int, int>> list;  // layers and views
    while (const auto c = search.next(seconds)) {
      seconds -= costly.work(*c);
      list.emplace_back(c->layers.value_or(0), c->views);
      search.add({*c, alike(c->layers == 1 ? 0.7 : 0.8), alike(0.8), costly.work(*c), ""});
    }
    return list;
  };
  using ::testing::ElementsAre, ::testing::Pair;
  EXPECT_THAT(tried(10), ElementsAre(Pair(1, 1), Pair(3, 1)));
  EXPECT_THAT(tried(20), ElementsAre(Pair(1, 1), Pair(16, 1)));
  EXPECT_THAT(tried(60), ElementsAre(Pair(1, 1), Pair(16, 2)));
  EXPECT_THAT(tried(3000), ElementsAre(Pair(1, 1), Pair(16, 2), Pair(0, 2)));
}

TEST(Search, AfterAPerfectTrialNothingDearerIsTried) {
  SearchSpace bounded = space();
  bounded.perfect = 1;
  for (const double reached : {0.99, 1.0}) {
    Search search(bounded);
    int deep = 0;
    while (const auto candidate = search.next(1e9)) {
      deep += candidate->layers != 1;
      search.add({*candidate,
                  {std::vector<double>(16, reached), parts_around(-0.3).fine},
                  alike(0.8),
                  1,
                  ""});
    }
    EXPECT_EQ(deep > 0, reached < 1) << reached;
    EXPECT_EQ(search.choice().candidate.layers, 1);
  }
}

TEST(Search, GentlerRatesAreTriedOnlyIfTheGuardWouldLetNothingPass) {
  SearchSpace deep = space();
  deep.depths = {16};
  deep.deep = 0;
  deep.views = {2};
  const Truth forgets = [](const Candidate& c) {
    return std::pair(0.9, c.learning_rate > 0.01 ? 0.7 : 0.8);
  };
  const Search careful = searched(deep, forgets);
  EXPECT_LT(careful.choice().candidate.learning_rate, 0.01) << "what the guard lets pass";
  EXPECT_EQ(rates_of(searched(deep, [](const Candidate&) { return std::pair(0.9, 0.8); }), 16), 1U);
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
  fixed.deep = 0;
  fixed.rates = false;
  fixed.classifier_rate = fixed.deep_rate = 0.5;
  fixed.views = {2};
  const auto search = searched(fixed, [](const Candidate&) { return std::pair(0.9, 0.8); });
  ASSERT_EQ(search.results().size(), 1U);
  EXPECT_EQ(search.choice().candidate, (Candidate{3, 0.5, 2, kDeepSteps}));
}

TEST(Search, EndsWithItsTime) {
  const auto search = searched(
      space(), [](const Candidate&) { return std::pair(0.9, 0.8); }, 3);
  EXPECT_LE(search.results().size(), 3U);
  EXPECT_GE(search.results().size(), 1U);
}

TEST(Search, WithoutATrialTheCheapestIsTakenAndSaidSo) {
  Search search(space());
  search.add({{1, 0.03, 1, kClassifierSteps}, {}, {}, 5, "there was no time left to end it"});
  EXPECT_EQ(search.choice().candidate, (Candidate{1, 0.03, 1, kClassifierSteps}));
  EXPECT_THAT(search.choice().why, ::testing::HasSubstr("no time left to end it"));
}

TEST(Search, ResultsAreReadAsTheyWereWritten) {
  const TrialResult result{
      {std::nullopt, 0.01, 4, 600}, {{0.5, 1}, {-3}}, {{0.25}, {0.5}}, 2.5, "why"};
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
