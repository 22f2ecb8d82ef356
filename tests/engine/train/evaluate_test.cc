#include "engine/train/evaluate.h"

#include <gtest/gtest.h>

#include "tests/engine/train/toy_source.h"

namespace moil {
namespace {

using testing::ToySource;

// A network whose logits are its input.
class Judge {
 public:
  explicit Judge(std::int64_t batch, std::int64_t classes = 3)
      : kernels_(testing::fixed_kernels()),
        network_(testing::ModelBuilder({classes}).layer("identity").model(),
                 {.batch = batch, .plan = {}}, kernels_) {
    network_.allocate();
    network_.load({});
  }
  Evaluation operator()(BatchSource& source) { return evaluate(network_, source); }

 private:
  KernelSelector kernels_;
  Network network_;
};

// Logits and targets as they are written down; notes how it was read.
class Table : public BatchSource {
 public:
  struct Row {
    std::vector<float> logits, target;
  };
  explicit Table(std::vector<Row> rows) : rows_(std::move(rows)) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(rows_.size()); }
  void read(std::span<const std::int64_t> samples, float* inputs, float* targets) override {
    batches.emplace_back(samples.begin(), samples.end());
    for (const auto s : samples) {
      const Row& row = rows_[static_cast<std::size_t>(s)];
      inputs = std::copy(row.logits.begin(), row.logits.end(), inputs);
      targets = std::copy(row.target.begin(), row.target.end(), targets);
    }
  }
  std::vector<std::vector<std::int64_t>> batches;

 private:
  std::vector<Row> rows_;
};

const Table::Row kRight{{0, 5, 1}, {0, 1, 0}}, kWrong{{0, 5, 1}, {1, 0, 0}};

TEST(EvaluateTest, CountsSamplesWhoseLargestLogitIsTheirClass) {
  Table table({kRight, kWrong, kRight, kRight});
  const Evaluation e = Judge(2)(table);
  EXPECT_EQ(e.samples, 4);
  EXPECT_DOUBLE_EQ(e.accuracy, 0.75);
}

TEST(EvaluateTest, TheLastBatchMayBePartlyFilled) {
  Table table({kRight, kRight, kRight, kWrong, kWrong});
  const Evaluation e = Judge(4)(table);
  EXPECT_EQ(e.samples, 5);
  EXPECT_DOUBLE_EQ(e.accuracy, 0.6);
  EXPECT_EQ(table.batches, (std::vector<std::vector<std::int64_t>>{{0, 1, 2, 3}, {4}}));
}

TEST(EvaluateTest, ASourceSmallerThanABatchAndAnEmptyOne) {
  Table one({kRight}), none({});
  EXPECT_DOUBLE_EQ(Judge(64)(one).accuracy, 1);
  EXPECT_EQ(Judge(64)(none).samples, 0);
  EXPECT_DOUBLE_EQ(Judge(64)(none).accuracy, 0);
}

TEST(EvaluateTest, SoftTargetsCountByTheirLargest) {
  Table table({{{1, 2, 3}, {0.1F, 0.3F, 0.6F}}, {{3, 2, 1}, {0.2F, 0.5F, 0.3F}}});
  EXPECT_DOUBLE_EQ(Judge(1)(table).accuracy, 0.5);
}

TEST(EvaluateTest, TheBatchSizeDoesNotMatter) {
  ToySource source(31, 3);
  const double accuracy = Judge(1)(source).accuracy;
  for (const std::int64_t batch : {2, 7, 31, 100})
    EXPECT_DOUBLE_EQ(Judge(batch)(source).accuracy, accuracy);
}

}  // namespace
}  // namespace moil
