#include "engine/device/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>

#include "base/error.h"
#include "engine/device/path_selection.h"
#include "engine/device/schedule_cost.h"
#include "engine/device/schedule_picture.h"

namespace moil {
namespace {

using ::testing::ElementsAre;

constexpr Pass kFP = Pass::kForward, kBP = Pass::kBackward, kUP = Pass::kUpdate;

SelectionLayer layer(const std::string& name, std::optional<PassTimes> fp,
                     std::optional<PassTimes> bp, std::optional<PassTimes> up = {}) {
  return {name, "conv2d", {fp, bp, up}};
}

std::vector<std::string> texts(const SelectionProblem& problem, const Schedule& schedule) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < schedule.size(); ++i)
    all.push_back(to_string(problem.layers[i], schedule[i]));
  return all;
}

// Two layers on one chain: x -> a -> y -> b -> loss; a has weights.
SelectionProblem small_problem(bool shares_memory, double transfer) {
  SelectionProblem p;
  p.layers = {layer("a", PassTimes{4, 1}, PassTimes{6, 8}, PassTimes{1, 0.5}),
              layer("b", PassTimes{1, 3}, PassTimes{2, 1})};
  p.tensors = {
      {"x", 100, false, {{-1, kFP, true, true}, {0, kFP, false, false}, {0, kBP, false, false}}},
      {"y", 100, false, {{0, kFP, true, true}, {1, kFP, false, false}, {1, kBP, false, false}}},
      {"dy", 100, false, {{1, kBP, true, true}, {0, kBP, false, false}}},
      {"w", 100, true, {{0, kFP, false, false}, {0, kBP, false, false}, {0, kUP, true, false}}},
      {"dw", 100, false, {{0, kBP, true, true}, {0, kUP, false, false}}},
  };
  p.transfers = {{shares_memory, {transfer, 0}, {transfer, 0}}};
  return p;
}

TEST(Selection, TheCpuAloneTransfersNothing) {
  const SelectionProblem p = small_problem(true, 1);
  const ScheduleCost cost = cost_of(p, select(p, SelectionMethod::kCpu));
  EXPECT_EQ(cost.transfers(), 0u);
  EXPECT_DOUBLE_EQ(cost.seconds(), 4 + 6 + 1 + 1 + 2);
}

TEST(Selection, ElsewhereIsWhateverCanBe) {
  SelectionProblem p = small_problem(true, 1);
  (*p.layers[1].passes[0])[kSecondProcessor].reset();
  EXPECT_THAT(texts(p, select(p, SelectionMethod::kElsewhere)), ElementsAre("GGG", "CG"));
}

TEST(Selection, StepWiseTakesEachPassWhereItIsFastest) {
  const SelectionProblem p = small_problem(true, 1);
  const Schedule schedule = select(p, SelectionMethod::kStepWise);
  EXPECT_THAT(texts(p, schedule), ElementsAre("GCG", "CG"));
  const ScheduleCost cost = cost_of(p, schedule);
  EXPECT_DOUBLE_EQ(cost.pass_seconds, 1 + 6 + 0.5 + 1 + 1);
  // x to a's FP, back for its BP; y to b's FP, which leaves it to be read by b's BP; dy to a's BP;
  // w: elsewhere when FP begins, read by BP here, taken for UP; dw to UP.
  EXPECT_EQ(cost.transfers_within, 1u + 0u + 2u + 1u);
  EXPECT_EQ(cost.transfers_between, 1u + 1u + 1u);
}

// By hand, with the layer's own weights and gradient (x is left out), a transfer taking 1:
//   CCC 4+6+1   = 11      GGG 1+8+0.5 = 9.5
//   GCC 1+6+1   = 8, and w is taken for FP and given for BP: 10
//   GCG 1+6+0.5 = 7.5, and w is given for BP and taken for UP, dw is taken: 10.5
// Without transfers GCG is the cheapest.
TEST(Selection, LayerWiseIsAlgorithm1) {
  SelectionProblem p = small_problem(true, 1);
  p.tensors.erase(p.tensors.begin());
  EXPECT_THAT(texts(p, select(p, SelectionMethod::kLayerWise)), ElementsAre("GGG", "CG"));
  p.transfers = {{true, {0, 0}, {0, 0}}};
  EXPECT_THAT(texts(p, select(p, SelectionMethod::kLayerWise)), ElementsAre("GCG", "CG"));
}

// A network of layers in a chain with skips; tensors as a plan would have them.
SelectionProblem random_problem(unsigned seed, int layers, int skips) {
  std::mt19937 random(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  SelectionProblem p;
  for (int i = 0; i < layers; ++i) {
    const auto times = [&] {
      PassTimes both{uniform(0.1, 3), uniform(0.1, 3)};
      if (random() % 8 == 0) both[kSecondProcessor].reset();
      return both;
    };
    const bool has_weights = random() % 2 == 0;
    p.layers.push_back(layer("l" + std::to_string(i), times(), times(),
                             has_weights ? std::optional(times()) : std::nullopt));
    if (!has_weights) continue;
    p.tensors.push_back({"w",
                         random() % 1000,
                         true,
                         {{i, kFP, false, false}, {i, kBP, false, false}, {i, kUP, true, false}}});
    p.tensors.push_back(
        {"dw", random() % 1000, false, {{i, kBP, true, true}, {i, kUP, false, false}}});
  }
  std::vector<std::vector<int>> readers(static_cast<std::size_t>(layers));
  for (int i = 0; i + 1 < layers; ++i) readers[static_cast<std::size_t>(i)].push_back(i + 1);
  for (int s = 0; s < skips && layers > 3; ++s) {
    const int from = static_cast<int>(random() % static_cast<unsigned>(layers - 3));
    auto& list = readers[static_cast<std::size_t>(from)];
    const int to = std::min(layers - 1, from + 2 + static_cast<int>(random() % 3));
    if (std::find(list.begin(), list.end(), to) == list.end()) list.push_back(to);
  }
  for (int i = 0; i < layers; ++i) {
    SelectionTensor y{"y", random() % 1000, false, {{i, kFP, true, true}}};
    SelectionTensor dy{"dy", random() % 1000, false, {}};
    auto& list = readers[static_cast<std::size_t>(i)];
    std::sort(list.begin(), list.end());
    for (const int reader : list) y.touches.push_back({reader, kFP, false, false});
    for (auto it = list.rbegin(); it != list.rend(); ++it) {
      if (random() % 2 == 0) y.touches.push_back({*it, kBP, false, false});
      dy.touches.push_back({*it, kBP, true, dy.touches.empty()});
    }
    if (list.empty()) y.touches.push_back({-1, kFP, false, false});
    dy.touches.push_back({i, kBP, false, false});
    p.tensors.push_back(y);
    p.tensors.push_back(dy);
  }
  TransferCosts& transfers = p.transfers.emplace_back();
  transfers.shares_memory = random() % 2 == 0;
  transfers.take = {uniform(0, 0.3), uniform(0, 0.001)};
  transfers.give = {uniform(0, 0.3), uniform(0, 0.001)};
  return p;
}

double brute_force(const SelectionProblem& p) {
  double least = 1e9;
  Schedule schedule(p.layers.size());
  const std::function<void(std::size_t)> from = [&](std::size_t i) {
    if (i == p.layers.size()) {
      least = std::min(least, cost_of(p, schedule).seconds());
      return;
    }
    for (const LayerSchedule& combination : combinations_of(p.layers[i])) {
      schedule[i] = combination;
      from(i + 1);
    }
  };
  from(0);
  return least;
}

TEST(Selection, PathIsTheCheapestOfAllOnSmallGraphs) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const SelectionProblem p = random_problem(seed, 1 + static_cast<int>(seed % 5), seed % 3);
    EXPECT_NEAR(cost_of(p, select(p, SelectionMethod::kPath)).seconds(), brute_force(p), 1e-9)
        << "seed " << seed;
  }
}

TEST(Selection, PathIsNeverWorseThanTheOthers) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const SelectionProblem p = random_problem(seed, 60, static_cast<int>(seed % 40));
    const double path = cost_of(p, select(p, SelectionMethod::kPath)).seconds();
    for (const SelectionMethod method : kSelectionMethods)
      EXPECT_LE(path, cost_of(p, select(p, method)).seconds() + 1e-9)
          << "seed " << seed << " " << to_string(method);
  }
}

// With hardly any states to keep, the search is a guess, and the others' schedules are tried, too.
TEST(Selection, ASearchThatKeepsFewStatesSaysSo) {
  const SelectionProblem p = random_problem(3, 30, 20);
  PathSearch narrow(p, 2), wide(p, kMostStates);
  (void)narrow.run();
  EXPECT_FALSE(narrow.is_exact());
  Schedule exact = wide.run();
  EXPECT_TRUE(wide.is_exact());
  const double seconds = cost_of(p, exact).seconds();
  improve(p, exact);
  EXPECT_DOUBLE_EQ(cost_of(p, exact).seconds(), seconds);
}

TEST(Selection, TwoHundredLayersTakeNoTime) {
  const SelectionProblem p = random_problem(5, 200, 60);
  const auto start = std::chrono::steady_clock::now();
  (void)select(p, SelectionMethod::kPath);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Selection, TellsWhereItsTransfersAre) {
  const SelectionProblem p = small_problem(true, 1);
  const Schedule schedule = select(p, SelectionMethod::kStepWise);
  const auto transfers = transfers_in(p, schedule);
  EXPECT_EQ(transfers.size(), cost_of(p, schedule).transfers());
  EXPECT_EQ(transfers[0].tensor, "x");
  EXPECT_EQ(transfers[0].layer, 0);
  EXPECT_TRUE(transfers[0].takes);
}

TEST(Selection, MethodsHaveNames) {
  for (const SelectionMethod method : kSelectionMethods)
    EXPECT_EQ(selection_method(to_string(method)), method);
  EXPECT_THROW((void)selection_method("gpu"), Error);
}

TEST(SchedulePicture, ShowsEveryPassAndItsTransfers) {
  SelectionProblem p = small_problem(true, 1);
  p.layers[0].name = "<a>";
  const std::string svg = draw_schedule("t & u", p, select(p, SelectionMethod::kStepWise));
  EXPECT_THAT(svg, ::testing::HasSubstr("t &amp; u"));
  EXPECT_THAT(svg, ::testing::HasSubstr("&lt;a&gt; FP: CPU 4 s, processor G 1 s; takes x"));
  EXPECT_THAT(svg, ::testing::EndsWith("</svg>\n"));
}

}  // namespace
}  // namespace moil
