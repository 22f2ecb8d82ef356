// Tables of rows inside networks: gradients of rows, and what they cost.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>

#include "base/median.h"
#include "engine/model/initial_weights.h"
#include "engine/train/optimizer.h"
#include "engine/train/weight_step.h"
#include "tests/engine/model/models.h"
#include "tests/errors.h"

namespace moil {
namespace {

ModelDescription words(std::int64_t rows, std::int64_t width, std::int64_t length) {
  ModelDescription model = test::ModelBuilder({length})
                               .layer("embedding", {{"rows", rows}, {"width", width}})
                               .layer("flatten")
                               .fc(3)
                               .model();
  model.inputs[0].type = ElementType::kInt32;
  return model;
}

class Plain final : public WeightUpdater {
 public:
  explicit Plain(OptimizerConfig config) : optimizer_(make_optimizer(config)) {}
  void gradient_ready(const WeightUpdate&) override {}
  void all_gradients_ready() override {}
  void apply(const WeightUpdate& update) override {
    OptimizerStep step = optimizer_step(update);
    step.learning_rate = 0.1;
    optimizer_->apply(step);
    if (update.has_rows()) rows = update.rows.size();
  }
  std::size_t rows = 0;

 private:
  std::unique_ptr<Optimizer> optimizer_;
};

class WordNetwork {
 public:
  WordNetwork(const ModelDescription& model, std::int64_t batch, bool of_rows,
              int micro_batches = 1)
      : kernels_(test::fixed_kernels()),
        network_(
            test::prepared(model),
            [&] {
              NetworkOptions options = test::training_options(model, batch);
              options.plan.row_gradients = of_rows;
              options.plan.micro_batches = micro_batches;
              return options;
            }(),
            kernels_) {
    network_.allocate();
    network_.load(test::random_weights(model, 1));
  }
  Network& network() { return network_; }

  void fill(unsigned seed, std::int32_t most) {
    std::mt19937 random(seed);
    std::int32_t* numbers = network_.integers(0);
    for (std::int64_t i = 0; i < network_.input_info(0).dims.elements(); ++i)
      numbers[i] = static_cast<std::int32_t>(random() % static_cast<unsigned>(most));
    const Dims& target = network_.input_info(1).dims;
    const auto y = test::one_hot_rows(target[0], target[1], seed + 1);
    std::copy(y.begin(), y.end(), network_.input(1));
  }
  std::vector<float> table() const { return network_.weight("embedding0.weight").data; }

 private:
  KernelSelector kernels_;
  Network network_;
};

// Without momentum a gradient of rows and a dense one are the same to the bit.
TEST(EmbeddingTest, RowsTrainAsADenseGradientDoes) {
  for (const int micro : {1, 3}) {
    SCOPED_TRACE(micro);
    WordNetwork rows(words(400, 5, 7), 4, true, micro), dense(words(400, 5, 7), 4, false, micro);
    Plain a({}), b({});
    for (int step = 0; step < 4; ++step) {
      for (int m = 0; m < micro; ++m) {
        const bool last = m + 1 == micro;
        for (auto* n : {&rows, &dense})
          n->fill(static_cast<unsigned>(10 * step + m), 30);  // few: some rows come often
        rows.network().train_step(1, last ? &a : nullptr, m > 0);
        dense.network().train_step(1, last ? &b : nullptr, m > 0);
      }
      EXPECT_EQ(rows.table(), dense.table()) << step;
    }
    EXPECT_GT(a.rows, 0U);
    EXPECT_LE(a.rows, 30U);
    EXPECT_EQ(b.rows, 0U);
  }
}

// Moments of rows that a step does not read stand still.
TEST(EmbeddingTest, OnlyRowsThatAreReadMove) {
  OptimizerConfig config;
  config.momentum = 0.9;
  config.weight_decay = 0.1;
  WordNetwork n(words(300, 4, 3), 2, true);
  Plain updater(config);
  n.network().release();
  NetworkOptions options = test::training_options(words(300, 4, 3), 2);
  options.plan.optimizer_states = 1;
  KernelSelector kernels = test::fixed_kernels();
  Network network(test::prepared(words(300, 4, 3)), options, kernels);
  network.allocate();
  network.load(test::random_weights(words(300, 4, 3), 1));
  const auto step = [&](std::int32_t number) {
    std::fill_n(network.integers(0), 6, number);
    std::fill_n(network.input(1), 6, 0.0F);
    network.input(1)[0] = network.input(1)[3] = 1;
    network.train_step(1, &updater);
    return network.weight("embedding0.weight").data;
  };
  const auto first = step(7), second = step(9);
  const auto row = [](const std::vector<float>& table, std::int64_t r) {
    return std::vector<float>(table.begin() + 4 * r, table.begin() + 4 * r + 4);
  };
  EXPECT_EQ(row(first, 7), row(second, 7));
  EXPECT_NE(row(first, 9), row(second, 9));
}

TEST(EmbeddingTest, ANumberThatTheTableLacksIsBadData) {
  for (const std::int32_t number : {-1, 50}) {
    WordNetwork n(words(50, 4, 3), 2, true);
    n.fill(1, 50);
    n.network().integers(0)[4] = number;
    test::expect_error(ErrorCode::kBadData, "number " + std::to_string(number),
                       [&] { n.network().forward(); });
  }
}

TEST(EmbeddingTest, IntegersAndFloatsAreNotMixed) {
  ModelDescription model = words(50, 4, 3);
  model.inputs[0].type = ElementType::kFloat32;
  test::expect_error(ErrorCode::kInvalidArgument, "int32", [&] { (void)build_graph(model, 1); });
  ModelDescription other = test::mlp_model(5, 7, 3);
  other.inputs[0].type = ElementType::kInt32;
  test::expect_error(ErrorCode::kInvalidArgument, "float32", [&] { (void)build_graph(other, 1); });
}

TEST(EmbeddingTest, FreshRowsHaveTheDeviationThatItSays) {
  ModelDescription model = words(1000, 8, 1);
  LayerDescription& table = model.layers[0];
  const auto deviation = [&] {
    const WeightMap weights = initial_weights(build_graph(model, 1), 1);
    const std::vector<float>& rows = weights.at(table.name + ".weight").data;
    double squares = 0;
    for (const float x : rows) squares += double{x} * double{x};
    return std::sqrt(squares / static_cast<double>(rows.size()));
  };
  EXPECT_NEAR(deviation(), 1, 0.05);
  table.properties["deviation"] = 0.1;
  EXPECT_NEAR(deviation(), 0.1, 0.005);
  for (const double wrong : {0.0, -0.1, 1.5}) {
    table.properties["deviation"] = wrong;
    EXPECT_NE(test::error_of([&] { (void)build_graph(model, 1); }, ErrorCode::kInvalidArgument),
              "");
  }
}

// A step's memory beside the table, and its time, do not know how high the table is.
TEST(EmbeddingTest, AStepTakesTheSameOfATallTable) {
  constexpr std::int64_t kLow = 2000, kHigh = 200'000, kWidth = 64, kBatch = 64;
  const auto table_bytes = [](std::int64_t rows) {
    return static_cast<std::size_t>(rows * kWidth) * sizeof(float);
  };
  std::map<std::int64_t, std::vector<double>> seconds;
  WordNetwork low(words(kLow, kWidth, 1), kBatch, true),
      high(words(kHigh, kWidth, 1), kBatch, true);
  EXPECT_LE(high.network().plan().memory.total_bytes, table_bytes(kHigh) + (1U << 20));
  Plain updater({});
  for (int step = 0; step < 60; ++step) {
    for (auto* n : {&low, &high}) {
      const std::int64_t rows = n == &low ? kLow : kHigh;
      n->fill(static_cast<unsigned>(step), static_cast<std::int32_t>(rows));
      const auto start = std::chrono::steady_clock::now();
      n->network().train_step(1, &updater);
      if (step >= 10)
        seconds[rows].push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
  }
  EXPECT_LE(median(seconds[kHigh]), 5 * median(seconds[kLow]));  // a dense gradient: a hundred
  std::printf("a step of %lld rows %.1f us, of %lld rows %.1f us\n", static_cast<long long>(kLow),
              1e6 * median(seconds[kLow]), static_cast<long long>(kHigh),
              1e6 * median(seconds[kHigh]));
}

}  // namespace
}  // namespace moil
