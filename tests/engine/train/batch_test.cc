#include "engine/train/batch.h"

#include <gmock/gmock.h>

#include <map>

#include "engine/train/trainer.h"
#include "tests/engine/graph/models.h"

namespace moil {
namespace {

using ::testing::ElementsAre;

// Two inputs, of three and two numbers.
ModelDescription two_inputs() {
  ModelDescription model;
  model.name = "two";
  model.inputs = {{"left", {3}}, {"right", {2}}};
  model.layers = {{"l", "fully_connected", {"left"}, {{"units", std::int64_t{4}}}},
                  {"r", "fully_connected", {"right"}, {{"units", std::int64_t{4}}}},
                  {"sum", "add", {"l", "r"}, {}},
                  {"act", "relu", {"sum"}, {}},
                  {"out", "fully_connected", {"act"}, {{"units", std::int64_t{2}}}}};
  model.outputs = {"out"};
  return model;
}

TEST(Batch, ScatterDealsRowsOut) {
  std::vector<float> left(4), right(2);
  const BatchTensor tensors[] = {{"left", 2, left}, {"right", 1, right}};
  const float rows[] = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(elements_of_sample(tensors), 3U);
  scatter(rows, 2, tensors);
  EXPECT_THAT(left, ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(right, ElementsAre(3, 6));
}

TEST(Batch, ATrainingNetworksShape) {
  const Graph graph =
      build_graph(training_plan_input(two_inputs(), nullptr, TrainerConfig{}).model, 8);
  const BatchShape shape = training_batch(graph, false);
  ASSERT_EQ(shape.inputs.size(), 2U);
  EXPECT_EQ(shape.inputs[1].name, "right");
  EXPECT_EQ(shape.inputs[1].elements, 2U);
  ASSERT_EQ(shape.targets.size(), 1U);
  EXPECT_EQ(shape.targets[0].elements, 2U);
  EXPECT_EQ(shape.bytes_of_sample(), (3 + 2 + 2) * sizeof(float));
  const BatchBuffer buffer(shape, 8);
  EXPECT_EQ(buffer.bytes(), 8 * shape.bytes_of_sample());
  EXPECT_EQ(buffer.batch().inputs[0].values.size(), 24U);
  EXPECT_TRUE(buffer.batch().weights.empty());
}

// Left and right alone each tell half of the classes; what is in `weights` counts.
class TwoSources : public BatchSource {
 public:
  explicit TwoSources(bool weighted) : weighted_(weighted) {}
  std::int64_t size() const override { return 40; }
  void read(std::span<const std::int64_t> indices, const Batch& batch) override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::int64_t s = indices[i];
      for (std::int64_t f = 0; f < 3; ++f)
        batch.inputs[0].row(i)[f] = s % 2 == 0 ? 1.0F : -1.0F + 0.1F * static_cast<float>(f);
      for (std::int64_t f = 0; f < 2; ++f) batch.inputs[1].row(i)[f] = s / 2 % 2 == 0 ? 1 : -1;
      const bool both = s % 2 == 0 && s / 2 % 2 == 0;
      const bool lies = weighted_ && s >= 20;
      batch.targets[0].row(i)[0] = both != lies ? 1 : 0;
      batch.targets[0].row(i)[1] = both != lies ? 0 : 1;
      if (weighted_) batch.weights[i] = lies ? 0 : 2;
    }
  }

 private:
  const bool weighted_;
};

// From initial weights to the end, every epoch in the same order.
void train(const TrainerConfig& config, Trainer::Callbacks callbacks) {
  KernelSelector kernels = test::fixed_kernels();
  Trainer trainer(two_inputs(), nullptr, config, kernels);
  trainer.allocate(initial_weights(build_graph(two_inputs(), 1), 1));
  TwoSources source(config.loss.weighted);
  callbacks.order = [](std::int64_t) {
    std::vector<std::int64_t> order(40);
    for (std::int64_t i = 0; i < 40; ++i) order[static_cast<std::size_t>(i)] = i * 7 % 40;
    return order;
  };
  EXPECT_TRUE(trainer.run(source, callbacks));
}

double loss_after(bool weighted, std::int64_t micro_batch = 0) {
  TrainerConfig config;
  config.loss.weighted = weighted;
  config.optimizer = {.kind = OptimizerKind::kAdam, .learning_rate = 0.05};
  config.batch = 8;
  config.micro_batch = micro_batch;
  config.epochs = 40;
  Trainer::Callbacks callbacks;
  double loss = 0;
  callbacks.on_epoch = [&](const EpochSummary& summary) { loss = summary.loss; };
  train(config, std::move(callbacks));
  return loss;
}

TEST(Batch, TwoInputsTrain) {
  EXPECT_LT(loss_after(false), 0.02);
  EXPECT_NEAR(loss_after(false, 4), loss_after(false), 1e-3);
}

// Half of the samples lie; their weight is 0.
TEST(Batch, SamplesCountByTheirWeights) { EXPECT_LT(loss_after(true), 0.05); }

// The bounds of the samples as a step found them, in micro-batches or not.
TEST(Batch, AWeightedLossTellsBounds) {
  std::map<std::int64_t, float> first[2];
  for (const std::int64_t micro : {0, 4}) {
    TrainerConfig config;
    config.loss.weighted = true;
    config.optimizer.learning_rate = 1e-12;  // all steps see the same weights
    config.batch = 8;
    config.micro_batch = micro;
    Trainer::Callbacks callbacks;
    callbacks.on_bounds = [&](std::span<const std::int64_t> indices, std::span<const float> b) {
      ASSERT_EQ(indices.size(), micro == 0 ? 8U : 4U);
      ASSERT_EQ(b.size(), indices.size());
      for (std::size_t i = 0; i < b.size(); ++i) first[micro / 4][indices[i]] = b[i];
    };
    train(config, std::move(callbacks));
  }
  ASSERT_EQ(first[0].size(), 40U);
  for (const auto& [index, bound] : first[0]) {
    EXPECT_NEAR(bound, first[1].at(index), 1e-6) << index;
    EXPECT_GT(bound, 0) << "also where the weight is 0";
  }
}

}  // namespace
}  // namespace moil
