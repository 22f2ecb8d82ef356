#include "engine/io/selection_json.h"

#include <gtest/gtest.h>

#include "base/json/json.h"

namespace moil {
namespace {

// x -> conv -> y -> pool: the convolution is faster elsewhere, and pooling must stay on the CPU.
SelectionProblem problem() {
  SelectionProblem p;
  p.layers = {{"conv", "conv2d", {PassTimes{4, 1}, PassTimes{6, 8}, PassTimes{1, 0.5}}},
              {"pool", "max_pool", {PassTimes{2}, {}, {}}}};
  p.tensors = {
      {"y", 100, false, {{0, Pass::kForward, true, true}, {1, Pass::kForward, false, false}}}};
  p.transfers = {{true, {0.25, 0}, {0.25, 0}}};
  return p;
}

Json told(SelectionMethod method) {
  const SelectionProblem p = problem();
  return selection_json("a board", method, p, select(p, method), {"conv2d 3x3: no room"});
}

TEST(SelectionJson, LayersHaveTheirPassesOnBothProcessors) {
  const Json json = told(SelectionMethod::kStepWise);
  EXPECT_EQ(json.at("device"), "a board");
  EXPECT_EQ(json.at("method"), "step_wise");
  EXPECT_EQ(json.at("refused"), Json({"conv2d 3x3: no room"}));
  EXPECT_EQ(json.at("layers"), parsed_json(R"([
      {"name": "conv", "type": "conv2d", "processors": "GCG", "FP": {"c": 4.0, "g": 1.0},
       "BP": {"c": 6.0, "g": 8.0}, "UP": {"c": 1.0, "g": 0.5}},
      {"name": "pool", "type": "max_pool", "processors": "C", "FP": {"c": 2.0, "g": null}}])"));
}

TEST(SelectionJson, EveryMethodIsTold) {
  const Json methods = told(SelectionMethod::kCpu).at("methods");
  EXPECT_EQ(methods.size(), kSelectionMethods.size());
  EXPECT_EQ(methods.at("cpu"), Json({{"seconds", 13.0}, {"transfers", 0}}));
  EXPECT_EQ(methods.at("step_wise"), Json({{"seconds", 9.75}, {"transfers", 1}}));
}

}  // namespace
}  // namespace moil
