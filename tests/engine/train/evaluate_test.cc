#include "engine/train/evaluate.h"

#include <gtest/gtest.h>

#include "engine/train/tasks/classify.h"
#include "tests/engine/train/toy_source.h"

namespace moil {
namespace {

using test::ToySource;

// A network whose logits are its input.
class Judge {
 public:
  explicit Judge(std::int64_t batch, std::int64_t classes = 3)
      : kernels_(test::fixed_kernels()),
        network_(test::ModelBuilder({classes}).layer("identity").model(),
                 {.batch = batch, .plan = {}}, kernels_) {
    network_.allocate();
    network_.load({});
  }
  // A classifier's.
  std::optional<double> operator()(BatchSource& source) {
    return evaluate(network_, source, *classify_task())[0].value;
  }

 private:
  KernelSelector kernels_;
  Network network_;
};

// Logits and targets as they are written down; notes how it was read.
class AnswerTable : public BatchSource {
 public:
  struct Row {
    std::vector<float> logits, target;
  };
  explicit AnswerTable(std::vector<Row> rows) : rows_(std::move(rows)) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(rows_.size()); }
  void read(std::span<const std::int64_t> samples, const Batch& batch) override {
    float *inputs = batch.inputs[0].values.data(), *targets = batch.targets[0].values.data();
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

const AnswerTable::Row kRight{{0, 5, 1}, {0, 1, 0}}, kWrong{{0, 5, 1}, {1, 0, 0}};

TEST(EvaluateTest, CountsSamplesWhoseLargestLogitIsTheirClass) {
  AnswerTable table({kRight, kWrong, kRight, kRight});
  EXPECT_EQ(Judge(2)(table), 0.75);
}

TEST(EvaluateTest, TheLastBatchMayBePartlyFilled) {
  AnswerTable table({kRight, kRight, kRight, kWrong, kWrong});
  EXPECT_EQ(Judge(4)(table), 0.6);
  EXPECT_EQ(table.batches, (std::vector<std::vector<std::int64_t>>{{0, 1, 2, 3}, {4}}));
}

TEST(EvaluateTest, ASourceSmallerThanABatchAndAnEmptyOne) {
  AnswerTable one({kRight}), none({});
  EXPECT_EQ(Judge(64)(one), 1);
  EXPECT_EQ(Judge(64)(none), std::nullopt);
}

TEST(EvaluateTest, SoftTargetsCountByTheirLargest) {
  AnswerTable table({{{1, 2, 3}, {0.1F, 0.3F, 0.6F}}, {{3, 2, 1}, {0.2F, 0.5F, 0.3F}}});
  EXPECT_EQ(Judge(1)(table), 0.5);
}

TEST(EvaluateTest, TheBatchSizeDoesNotMatter) {
  ToySource source(31, 3);
  const auto accuracy = Judge(1)(source);
  for (const std::int64_t batch : {2, 7, 31, 100}) EXPECT_EQ(Judge(batch)(source), accuracy);
}

}  // namespace
}  // namespace moil
