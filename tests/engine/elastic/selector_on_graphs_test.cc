// The selector on whole graphs, where it sees a line of entries: against every subset.
#include <gtest/gtest.h>

#include <random>

#include "tests/engine/elastic/elastic_case.h"

namespace moil {
namespace {

using test::Shape;

class SelectorOnGraphs : public ::testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(All, SelectorOnGraphs, ::testing::Values(Shape::kLine, Shape::kBranches));

// For any selection, whether it would be chosen or not.
TEST_P(SelectorOnGraphs, ChargesNoLessThanTheGraph) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const auto c = test::random_case(GetParam(), seed);
    const ElasticProblem problem = elastic_problem(c.profile);
    std::mt19937 random(seed);
    for (int round = 0; round < 20; ++round) {
      std::vector<std::size_t> entries;
      for (std::size_t e = 0; e < problem.entries.size(); ++e) {
        if (!problem.entries[e].selectable || random() % 3 != 0) continue;
        entries.push_back(e);
      }
      const double charged = c.profile.forward + backward_seconds(problem.entries, entries);
      const double taken = predicted_step(c.profile, c.graph, problem.named(entries));
      if (GetParam() == Shape::kLine)
        ASSERT_EQ(taken, charged) << "seed " << seed;
      else
        ASSERT_LE(taken, charged) << "seed " << seed;
    }
  }
}

TEST_P(SelectorOnGraphs, StaysWithinItsTime) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const auto c = test::random_case(GetParam(), seed);
    const test::Chosen chosen = test::chosen(c);
    EXPECT_LE(predicted_step(c.profile, c.graph, chosen.selection),
              c.profile.forward + chosen.seconds)
        << "seed " << seed;
    EXPECT_LE(chosen.seconds, c.backward_seconds()) << "seed " << seed;
  }
}

TEST(SelectorOnALine, FindsTheBest) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const auto c = test::random_case(Shape::kLine, seed);
    EXPECT_NEAR(test::importance_of(c, test::chosen(c).selection), test::best_importance(c), 1e-9)
        << "seed " << seed;
  }
}

// A branch that is not entered is charged for: something is missed, by how much is the networks'
// and the times' doing.
TEST(SelectorOnBranches, FindsMostOfTheBest) {
  double share = 0;
  int cases = 0, best_found = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const auto c = test::random_case(Shape::kBranches, seed);
    const double best = test::best_importance(c);
    const double found = test::importance_of(c, test::chosen(c).selection);
    EXPECT_LE(found, best + 1e-9) << "seed " << seed;
    if (best == 0) continue;
    share += found / best;
    best_found += found > best - 1e-9 ? 1 : 0;
    ++cases;
  }
  EXPECT_GT(share, 0.92 * cases);
  EXPECT_GT(best_found, cases / 2);
  EXPECT_LT(best_found, cases);
  RecordProperty("share", std::to_string(share / cases));
  RecordProperty("best_found", best_found);
  RecordProperty("cases", cases);
}

}  // namespace
}  // namespace moil
