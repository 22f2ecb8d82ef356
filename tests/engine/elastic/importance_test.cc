#include "engine/elastic/importance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "engine/device/recorded_device.h"
#include "engine/model/preparation.h"
#include "tests/engine/model/models.h"

namespace moil {
namespace {

constexpr std::int64_t kInputs = 6, kClasses = 3, kDrawn = 4;
constexpr double kRate = 1e-2;

// kDrawn samples, all of them in one batch.
struct ArraySource final : BatchSource {
  std::int64_t size() const override { return kDrawn; }
  void read(std::span<const std::int64_t> indices, const Batch& batch) override {
    float *to = batch.inputs[0].values.data(), *targets_to = batch.targets[0].values.data();
    ASSERT_EQ(indices.size(), static_cast<std::size_t>(kDrawn));
    std::copy(inputs.begin(), inputs.end(), to);
    std::copy(targets.begin(), targets.end(), targets_to);
  }
  std::vector<float> inputs, targets;
};

struct Probed {
  explicit Probed(const ModelDescription& m, TrainerConfig c = {})
      : model(m), config(std::move(c)), kernels(test::fixed_kernels()) {
    const auto dims = build_graph(model, kDrawn).values[0].info.dims;
    source.inputs = test::random_values(dims.elements(), 2);
    source.targets = test::one_hot_rows(kDrawn, kClasses, 3);
    weights = test::random_weights(model, 1);
  }
  std::map<std::string, double> importance(double rate = kRate,
                                           ImportanceMetric metric = ImportanceMetric::kLoss) {
    constexpr std::int64_t kAll[kDrawn] = {0, 1, 2, 3};
    return ImportanceProbe(model, nullptr, config, kDrawn, kernels)
        .measure(weights, rate, source, kAll, metric);
  }

  // The loss of these weights on the probe's batch; if `updater` is given, after a step.
  double loss(const WeightMap& of, WeightUpdater* updater = nullptr, WeightMap* after = nullptr) {
    TrainerConfig c = config;
    c.batch = kDrawn;
    const TrainingPlanInput input = training_plan_input(model, nullptr, c);
    Network network(input.model, input.options, kernels);
    network.allocate();
    network.load(of);
    std::copy(source.inputs.begin(), source.inputs.end(), network.input(0));
    std::copy(source.targets.begin(), source.targets.end(), network.input(1));
    network.train_step(c.seed, updater);
    if (after) network.save(*after);
    return static_cast<double>(network.output(0)[0]);
  }

  ModelDescription model;
  TrainerConfig config;
  KernelSelector kernels;
  ArraySource source;
  WeightMap weights;
};

class PlainStep : public WeightUpdater {
 public:
  void gradient_ready(const WeightUpdate&) override {}
  void all_gradients_ready() override {}
  void apply(const WeightUpdate& u) override {
    for (std::int64_t i = 0; i < u.elements; ++i)
      u.weight[i] -= static_cast<float>(kRate) * u.gradient[i];
  }
};

// A step that leaves the numbers is no reason to choose a tensor, and can be compared.
TEST(Importance, OfAnUpdateThatMadeNoNumberIsTheLeast) {
  Probed p(test::mlp_model(kInputs, 8, kClasses));
  for (const auto metric :
       {ImportanceMetric::kLoss, ImportanceMetric::kGradient, ImportanceMetric::kUpdate}) {
    for (const auto& [name, importance] : p.importance(1e39, metric)) {
      EXPECT_TRUE(std::isfinite(importance)) << name;
      if (metric == ImportanceMetric::kLoss) {
        EXPECT_LT(importance, 0) << name;
      }
    }
  }
}

// What the loss rises by if one tensor's update is undone.
TEST(Importance, IsTheLossOfUndoingAnUpdate) {
  Probed p(test::mlp_model(kInputs, 8, kClasses));
  const auto importance = p.importance();
  WeightMap updated = p.weights;
  PlainStep step;
  (void)p.loss(p.weights, &step, &updated);
  const double with = p.loss(updated);
  ASSERT_EQ(importance.size(), 4U);
  for (const auto& [name, value] : importance) {
    WeightMap undone = updated;
    undone.at(name) = p.weights.at(name);
    const double rise = p.loss(undone) - with;
    EXPECT_NEAR(value, rise, 0.1 * std::abs(rise) + 1e-6) << name;
    EXPECT_GT(value, 0) << name;
  }
}

TEST(Importance, AStepTooFarIsNegative) {
  Probed p(test::mlp_model(kInputs, 8, kClasses));
  double sum = 0;
  for (const auto& [name, value] : p.importance(50)) sum += value;
  EXPECT_LT(sum, 0);
}

TEST(Importance, SameWeightsSameBitsWhateverTheOptimizer) {
  for (const auto kind :
       {OptimizerKind::kSgd, OptimizerKind::kSgdw, OptimizerKind::kAdam, OptimizerKind::kAdamw}) {
    TrainerConfig config;
    config.optimizer.kind = kind;
    config.optimizer.momentum = kind == OptimizerKind::kSgd ? 0.9 : 0;
    config.clip_norm = 1e-3;  // makes no difference
    Probed p(test::mlp_model(kInputs, 8, kClasses), config);
    const WeightMap before = p.weights;
    const auto first = p.importance(1e-3), second = p.importance(1e-3);
    EXPECT_EQ(first, second);
    for (const auto& [name, tensor] : before) EXPECT_EQ(tensor.data, p.weights.at(name).data);
  }
}

TEST(Importance, EveryTrainableTensorOfLayersWithStatistics) {
  Probed p(test::residual_model());
  const auto importance = p.importance();
  EXPECT_EQ(importance.size(), trainable_weights(p.model, nullptr).size());
  for (const auto& [name, value] : importance) EXPECT_TRUE(std::isfinite(value)) << name;
}

// Updates of plain SGD are gradients times the rate; only the gradients are of the step after.
TEST(Importance, SimplerMetricsAreMagnitudes) {
  Probed p(test::mlp_model(kInputs, 8, kClasses));
  const auto gradient = p.importance(1e-6, ImportanceMetric::kGradient);
  const auto update = p.importance(1e-6, ImportanceMetric::kUpdate);
  for (const auto& [name, value] : update) {
    EXPECT_GT(value, 0) << name;
    EXPECT_NEAR(value / 1e-6, gradient.at(name), 0.05 * gradient.at(name)) << name;
  }
}

// Its memory is given back in between.
TEST(Importance, AProbeServesAgain) {
  Probed p(test::residual_model());
  constexpr std::int64_t kAll[kDrawn] = {0, 1, 2, 3};
  ImportanceProbe probe(p.model, nullptr, p.config, kDrawn, p.kernels);
  const auto first = probe.measure(p.weights, kRate, p.source, kAll);
  EXPECT_EQ(probe.measure(p.weights, kRate, p.source, kAll), first);
  EXPECT_EQ(p.importance(), first);
}

// What another processor was assigned is of the training's network: the probe's is the CPU's.
TEST(Importance, IsProbedOnTheCpuAlone) {
  const ModelDescription model = test::residual_model();
  RecordedDevice device;
  device.device = "of paper";
  for (const bool shares_memory : {true, false}) {
    Probed on_cpu(model), on_both(model);
    TrainerConfig& config = on_both.config;
    config.processors = {make_recorded_processor(device, shares_memory)};
    for (const Node& node :
         build_graph(training_plan_input(model, nullptr, config).model, kDrawn).nodes)
      config.assignment[node.name] = all_steps_on(kSecondProcessor);
    EXPECT_EQ(on_both.importance(), on_cpu.importance());
    const ImportanceProbe probe(model, nullptr, config, kDrawn, on_both.kernels);
    const ImportanceProbe plain(model, nullptr, on_cpu.config, kDrawn, on_cpu.kernels);
    EXPECT_EQ(probe.planned_bytes(), plain.planned_bytes());
  }
}

TEST(Importance, RefusesAnotherNumberOfSamples) {
  Probed p(test::mlp_model(kInputs, 8, kClasses));
  EXPECT_THROW(ImportanceProbe(p.model, nullptr, p.config, 0, p.kernels), Error);
  ImportanceProbe probe(p.model, nullptr, p.config, kDrawn, p.kernels);
  EXPECT_THROW((void)probe.measure(p.weights, kRate, p.source, {}), Error);
}

}  // namespace
}  // namespace moil
