#include "engine/train/batch.h"

#include <gmock/gmock.h>

#include "engine/model/initial_weights.h"
#include "engine/train/trainer.h"
#include "tests/engine/model/models.h"

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

TEST(Batch, WholeNumbersAreWhatTheirTypeSays) {
  std::vector<float> words(4), numbers(2);
  const BatchTensor tensors[] = {{"words", 2, words, ElementType::kInt32}, {"n", 1, numbers}};
  const float rows[] = {0, 7, 3, 16777215, 5, 6};
  scatter(rows, 2, tensors);
  std::vector<std::int32_t> read;
  for (const float word : words) read.push_back(std::bit_cast<std::int32_t>(word));
  EXPECT_THAT(read, ElementsAre(0, 7, 16777215, 5));
  EXPECT_THAT(numbers, ElementsAre(3, 6));
  scatter(rows, 1, tensors);
  EXPECT_EQ(words[2] + words[3], 0) << "what is no sample names the table's first row";
}

TEST(Batch, ATrainingNetworksShape) {
  const Graph graph =
      build_graph(training_plan_input(two_inputs(), nullptr, TrainerConfig{}).model, 8);
  const BatchShape shape = training_batch(graph);
  ASSERT_EQ(shape.inputs.size(), 2U);
  EXPECT_EQ(shape.inputs[1].name, "right");
  EXPECT_EQ(shape.inputs[1].elements, 2U);
  ASSERT_EQ(shape.targets.size(), 1U);
  EXPECT_EQ(shape.targets[0].elements, 2U);
  EXPECT_EQ(shape.bytes_of_sample(), (3 + 2 + 2) * sizeof(float));
  const BatchBuffer buffer(shape, 8);
  EXPECT_EQ(buffer.bytes(), 8 * shape.bytes_of_sample());
  EXPECT_EQ(buffer.batch().inputs[0].values.size(), 24U);
}

// Left and right alone each tell half of the classes.
class TwoSources : public BatchSource {
 public:
  std::int64_t size() const override { return 40; }
  void read(std::span<const std::int64_t> indices, const Batch& batch) override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::int64_t s = indices[i];
      for (std::int64_t f = 0; f < 3; ++f)
        batch.inputs[0].row(i)[f] = s % 2 == 0 ? 1.0F : -1.0F + 0.1F * static_cast<float>(f);
      for (std::int64_t f = 0; f < 2; ++f) batch.inputs[1].row(i)[f] = s / 2 % 2 == 0 ? 1 : -1;
      const bool both = s % 2 == 0 && s / 2 % 2 == 0;
      batch.targets[0].row(i)[0] = both ? 1 : 0;
      batch.targets[0].row(i)[1] = both ? 0 : 1;
    }
  }
};

// From initial weights to the end, every epoch in the same order.
double loss_after(std::int64_t micro_batch) {
  TrainerConfig config;
  config.optimizer = {.kind = OptimizerKind::kAdam, .learning_rate = 0.05};
  config.batch = 8;
  config.micro_batch = micro_batch;
  config.epochs = 40;
  KernelSelector kernels = test::fixed_kernels();
  Trainer trainer(two_inputs(), nullptr, config, kernels);
  trainer.allocate(initial_weights(build_graph(two_inputs(), 1), 1));
  TwoSources source;
  Trainer::Callbacks callbacks;
  callbacks.order = [](std::int64_t) {
    std::vector<std::int64_t> order(40);
    for (std::int64_t i = 0; i < 40; ++i) order[static_cast<std::size_t>(i)] = i * 7 % 40;
    return order;
  };
  double loss = 0;
  callbacks.on_epoch = [&](const EpochSummary& summary) { loss = summary.loss; };
  EXPECT_TRUE(trainer.run(source, callbacks));
  return loss;
}

TEST(Batch, TwoInputsTrain) {
  EXPECT_LT(loss_after(0), 0.02);
  EXPECT_NEAR(loss_after(4), loss_after(0), 1e-3);
}

}  // namespace
}  // namespace moil
