// Weights that several layers have: one gradient, one update, whatever else the plan does.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/io/model_json.h"
#include "engine/model/preparation.h"
#include "engine/model/realizers/realizers.h"
#include "engine/model/surgery.h"
#include "engine/model/weights.h"
#include "tests/engine/model/models.h"
#include "tests/engine/run/training.h"
#include "tests/errors.h"

namespace moil {
namespace {

// A cell unrolled over five parts of the input: its weights are those of the first part's layers.
ModelDescription unrolled(bool shared = true) {
  test::ModelBuilder b({5, 3});
  std::string state;
  for (int i = 0; i < 5; ++i) {
    const std::string n = std::to_string(i);
    const std::int64_t begin = i;
    b.go_back("input");
    b.layer("slice", {{"axis", std::int64_t{1}}, {"start", begin}, {"length", std::int64_t{1}}}, {},
            "part" + n);
    b.layer("reshape", {{"dims", std::vector<std::int64_t>{3}}}, {}, "row" + n);
    b.layer("fully_connected", {{"units", std::int64_t{4}}}, {}, "read" + n);
    if (i > 0) {
      const std::string read = b.last();
      b.go_back(state);
      b.layer("fully_connected", {{"units", std::int64_t{4}}, {"bias", false}}, {}, "keep" + n);
      b.layer("add", {}, {read, b.last()}, "sum" + n);
    }
    state = b.layer("tanh", {}, {}, "state" + n).last();
  }
  ModelDescription model = b.fc(3).model();
  for (LayerDescription& layer : model.layers) {
    if (!shared) break;
    if (layer.name.starts_with("read") && layer.name != "read0")
      layer.shares = {{"weight", "read0.weight"}, {"bias", "read0.bias"}};
    if (layer.name.starts_with("keep") && layer.name != "keep1")
      layer.shares = {{"weight", "keep1.weight"}};
  }
  return model;
}

std::size_t weights_of_cell() { return 5; }  // read0's two, keep1's, the classifier's two

TEST(SharedWeightsTest, AreOneInTheModelsFile) {
  const WeightMap weights = test::random_weights(unrolled(), 1);
  EXPECT_EQ(weights.size(), weights_of_cell());
  EXPECT_TRUE(weights.contains("keep1.weight"));
  EXPECT_FALSE(weights.contains("keep2.weight"));
  const ModelDescription again = parse_model(format_model(unrolled()), "model");
  EXPECT_EQ(format_model(again), format_model(unrolled()));
  EXPECT_EQ(again.layers[8].shares, unrolled().layers[8].shares);
}

TEST(SharedWeightsTest, GradientsAreTheLossesSlope) {
  test::expect_slopes(unrolled(), weights_of_cell(), 2e-3, 0.02, 2e-4);
}

// The gradient of what is shared is the sum of what each layer would have by itself.
TEST(SharedWeightsTest, GradientsAreTheSumOfTheLayers) {
  test::Training shared(unrolled()), apart(unrolled(false));
  WeightMap weights = test::random_weights(unrolled(), 1);
  shared.network().load(weights);
  for (int i = 1; i < 5; ++i) {
    const std::string n = std::to_string(i);
    weights["read" + n + ".weight"] = weights["read0.weight"];
    weights["read" + n + ".bias"] = weights["read0.bias"];
    weights["keep" + n + ".weight"] = weights["keep1.weight"];
  }
  apart.network().load(weights);
  const auto sums = shared.gradients(3), parts = apart.gradients(3);
  const auto expect_sum = [&](const std::string& layer, const std::string& weight, int first) {
    const auto& sum = sums.at(layer + std::to_string(first) + "." + weight);
    for (std::size_t k = 0; k < sum.size(); ++k) {
      double expected = 0;
      for (int i = first; i < 5; ++i)
        expected += parts.at(layer + std::to_string(i) + "." + weight)[k];
      EXPECT_NEAR(sum[k], expected, 1e-5 + 1e-4 * std::abs(expected)) << layer << " " << k;
    }
  };
  expect_sum("read", "weight", 0);
  expect_sum("read", "bias", 0);
  expect_sum("keep", "weight", 1);
}

TEST(SharedWeightsTest, NeitherSharingMemoryNorSwapNorClippingOrderChangesABit) {
  const ModelDescription model = unrolled(), prepared = test::prepared(model);
  for (const bool clips : {false, true}) {
    NetworkOptions options = test::training_options(model, 4);
    options.plan.optimizer_states = 1;
    options.plan.clip_by_global_norm = clips;
    test::expect_same_bits_of_other_plans(prepared, options, test::random_weights(model, 2));
  }
}

TEST(SharedWeightsTest, AreUpdatedOnceAndInferAlike) {
  KernelSelector kernels = test::fixed_kernels();
  WeightMap weights = test::random_weights(unrolled(), 1);
  std::size_t updates = 0;
  NetworkOptions options = test::training_options(unrolled(), 2);
  const NetworkPlan plan =
      plan_network(build_graph(test::prepared(unrolled()), 2), options.plan, kernels);
  for (const Instruction& step : plan.program)
    for (const Operand& operand : step.operands)
      if (step.kind == StepKind::kApplyGradient && operand.role == OperandRole::kWeight) ++updates;
  EXPECT_EQ(updates, weights_of_cell());
  // Moved in, an inference network has all that it needs, and saving gives each once.
  Network network(unrolled(), {.batch = 2, .plan = {}}, kernels);
  network.allocate();
  WeightMap copy = weights;
  network.move_in(copy);
  EXPECT_TRUE(copy.empty());
}

void expect_refused(const std::string& what, const std::function<void(ModelDescription&)>& change) {
  ModelDescription model = unrolled();
  change(model);
  test::expect_error(ErrorCode::kInvalidArgument, what, [&] { (void)build_graph(model, 1); });
}

TEST(SharedWeightsTest, WhatDoesNotFitIsRefused) {
  const auto layer = [](ModelDescription& m, const std::string& name) -> LayerDescription& {
    return *std::find_if(m.layers.begin(), m.layers.end(),
                         [&](const LayerDescription& l) { return l.name == name; });
  };
  expect_refused("cannot be",
                 [&](auto& m) { layer(m, "read1").shares["weight"] = "keep1.weight"; });
  expect_refused("no weight \"gamma\"",
                 [&](auto& m) { layer(m, "read1").shares["gamma"] = "read0.weight"; });
  expect_refused("which no layer has",
                 [&](auto& m) { layer(m, "read1").shares["weight"] = "nobody.weight"; });
}

TEST(SharedWeightsTest, NeitherCutNorGrownApart) {
  ModelDescription tied = test::ModelBuilder({4}).fc(4).relu().fc(4).model();
  tied.layers.back().shares = {{"weight", "fully_connected0.weight"}};
  test::expect_error(ErrorCode::kInvalidArgument, "share a weight",
                     [&] { (void)realize_slice(tied, "relu0", {4}); });
  test::expect_error(ErrorCode::kInvalidArgument, "shares its weights",
                     [&] { (void)find_classifier(tied); });
}

}  // namespace
}  // namespace moil
