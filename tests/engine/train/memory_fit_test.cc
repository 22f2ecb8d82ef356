#include "engine/train/memory_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tests/engine/model/models.h"
#include "tests/engine/train/toy_source.h"
#include "tests/errors.h"

namespace moil {
namespace {

using ::testing::HasSubstr;

// Activations outweigh weights; nothing normalises over the batch.
ModelDescription model_without_norm() {
  test::ModelBuilder b({8, 16, 16});
  for (int i = 0; i < 5; ++i) b.conv(16, 3).layer("tanh");
  return b.layer("global_average_pool").fc(3).model();
}

// Weights outweigh activations.
ModelDescription model_of_weights() {
  test::ModelBuilder b({256});
  for (int i = 0; i < 4; ++i) b.fc(256).layer("tanh");
  return b.fc(3).model();
}

ModelDescription model_with_norm() {
  test::ModelBuilder b({8, 16, 16});
  for (int i = 0; i < 5; ++i) b.conv(16, 3).norm().relu();
  return b.layer("global_average_pool").fc(3).model();
}

TrainerConfig config(std::int64_t batch) {
  TrainerConfig c;
  c.batch = batch;
  c.optimizer.momentum = 0.9;
  c.swap_folder = std::filesystem::temp_directory_path();
  c.swap.smallest_bytes = 1;
  return c;
}

MemoryFit fit(const ModelDescription& model, const TrainerConfig& config, FitOptions options) {
  KernelSelector kernels = test::fixed_kernels();
  return fit_training(model, nullptr, config, options, kernels);
}

std::size_t whole(const ModelDescription& model, std::int64_t batch) {
  KernelSelector kernels = test::fixed_kernels();
  return plan_training(model, nullptr, config(batch), kernels).planned_bytes;
}

std::string refusal(const ModelDescription& model, const FitOptions& options) {
  return test::error_of([&] { (void)fit(model, config(16), options); });
}

TEST(MemoryFitTest, WhatFitsStaysAsItIs) {
  const MemoryFit found =
      fit(model_without_norm(), config(16), {.budget_bytes = whole(model_without_norm(), 16)});
  EXPECT_EQ(micro_batch_of(found.config), 16);
  EXPECT_EQ(found.config.swap.mode, SwapMode::kOff);
  EXPECT_EQ(found.traffic.written_bytes, 0u);
}

TEST(MemoryFitTest, TheLargestMicroBatchThatFitsIsTaken) {
  const ModelDescription model = model_without_norm();
  TrainerConfig half = config(16);
  half.micro_batch = 8;
  KernelSelector kernels = test::fixed_kernels();
  const std::size_t budget = plan_training(model, nullptr, half, kernels).planned_bytes;
  ASSERT_LT(budget, whole(model, 16));
  const MemoryFit found = fit(model, config(16), {.budget_bytes = budget, .may_swap = true});
  EXPECT_EQ(micro_batch_of(found.config), 8);
  EXPECT_EQ(found.config.swap.mode, SwapMode::kOff);
  EXPECT_LE(found.planned_bytes, budget);
}

// The norms' outputs and what the activations make of them need not be kept.
TEST(MemoryFitTest, BatchNormsKeepTheBatchWholeAndMakeOutputsAgain) {
  const ModelDescription model = model_with_norm();
  const std::size_t budget = whole(model, 16) * 5 / 6;
  const MemoryFit found = fit(model, config(16), {.budget_bytes = budget, .may_swap = true});
  EXPECT_EQ(micro_batch_of(found.config), 16);
  EXPECT_FALSE(found.config.again.empty());
  EXPECT_EQ(found.config.swap.mode, SwapMode::kOff);
  EXPECT_LE(found.planned_bytes, budget);
}

TEST(MemoryFitTest, WhereMakingAgainIsNotEnoughTheySwap) {
  const ModelDescription model = model_with_norm();
  const std::size_t budget = whole(model, 16) / 3;
  const MemoryFit found = fit(model, config(16), {.budget_bytes = budget, .may_swap = true});
  EXPECT_EQ(micro_batch_of(found.config), 16);
  EXPECT_EQ(found.config.swap.mode, SwapMode::kProactive);
  EXPECT_LE(found.planned_bytes, budget);
  EXPECT_GT(found.traffic.written_bytes, 0u);
}

// What a training with swap writes in a step, by its micro-batches; those that fit.
std::map<std::int64_t, std::size_t> written_by_micro_batch(const ModelDescription& model,
                                                           const FitOptions& options) {
  std::map<std::int64_t, std::size_t> written;
  for (const std::int64_t micro : {1, 2, 4, 8, 16}) {
    TrainerConfig c = config(16);
    c.micro_batch = micro;
    try {
      written[micro] = fit(model, c, options).traffic.written_bytes;
    } catch (const Error&) {  // it does not fit
    }
  }
  return written;
}

// Activations are moved least in small micro-batches; weights, in large ones: they are moved for
// each.
TEST(MemoryFitTest, OfThoseThatFitWithSwapTheOneThatWritesLeastIsTaken) {
  const auto taken = [](const ModelDescription& model, double share) {
    TrainerConfig smallest = config(16);
    smallest.micro_batch = 1;
    KernelSelector kernels = test::fixed_kernels();
    const std::size_t without = plan_training(model, nullptr, smallest, kernels).planned_bytes;
    const FitOptions options{
        .budget_bytes = static_cast<std::size_t>(share * static_cast<double>(without)),
        .may_swap = true};
    const auto written = written_by_micro_batch(model, options);
    EXPECT_GT(written.size(), 1U) << "there is no choice";
    const MemoryFit found = fit(model, config(16), options);
    for (const auto& [micro, bytes] : written) EXPECT_GE(bytes, found.traffic.written_bytes);
    return micro_batch_of(found.config);
  };
  EXPECT_EQ(taken(model_without_norm(), 0.7), 1);
  EXPECT_EQ(taken(model_of_weights(), 0.7), 16);
}

// The faster of micro-batches and outputs made again is taken, and it fits.
TEST(MemoryFitTest, TheFastestThatFitsIsMeasured) {
  const ModelDescription model = model_without_norm();
  const std::size_t budget = whole(model, 16) * 4 / 5;
  KernelSelector kernels = test::fixed_kernels();
  const auto fits = fits_of_training(model, nullptr, config(16), {.budget_bytes = budget}, kernels);
  ASSERT_EQ(fits.size(), 2U);
  EXPECT_LT(micro_batch_of(fits[0].config), 16);
  EXPECT_TRUE(fits[0].config.again.empty());
  EXPECT_EQ(micro_batch_of(fits[1].config), 16);
  EXPECT_FALSE(fits[1].config.again.empty());
  const TrainerConfig best = fastest_of(model, nullptr, fits, budget, kernels);
  EXPECT_EQ(best.again.empty(), micro_batch_of(best) < 16);
  EXPECT_LE(plan_training(model, nullptr, best, kernels).planned_bytes, budget);
}

TEST(MemoryFitTest, WhatDoesNotFitIsRefusedWithBothNumbers) {
  const std::string text = refusal(model_with_norm(), {.budget_bytes = 50'000});
  EXPECT_THAT(text, HasSubstr("50000 are allowed"));
  EXPECT_THAT(text, HasSubstr(std::to_string(whole(model_with_norm(), 16))));
  EXPECT_THAT(text, HasSubstr("batch norms"));
  EXPECT_THAT(refusal(model_without_norm(), {.budget_bytes = 1000}), HasSubstr("1000 are allowed"));
}

TEST(MemoryFitTest, WritingMoreThanAllowedIsRefused) {
  const std::size_t budget = whole(model_with_norm(), 16) / 3;
  const std::string text =
      refusal(model_with_norm(),
              {.budget_bytes = budget, .may_swap = true, .steps = 100, .max_write_bytes = 1000});
  EXPECT_THAT(text, HasSubstr("swap.max_write_bytes allows 1000"));
}

// A disk of another speed asks for other windows, and those for another layout.
TEST(MemoryFitTest, MeasuredTransfersFitAsWell) {
  const ModelDescription model = model_with_norm();
  KernelSelector kernels = test::fixed_kernels();
  int outgrown = 0;
  for (const double part : {0.4, 0.45, 0.5, 0.55}) {
    const auto budget = static_cast<std::size_t>(part * static_cast<double>(whole(model, 16)));
    const TrainerConfig fitted =
        fit(model, config(16), {.budget_bytes = budget, .may_swap = true}).config;
    for (double speed = 1e7; speed < 1e11; speed *= 10) {
      TrainerConfig timed = fitted;
      timed.swap.times.order_seconds.assign(1000, 1e-4);
      timed.swap.times.read_bytes_per_second = speed;
      timed.swap.times.write_bytes_per_second = speed / 2;
      outgrown += plan_training(model, nullptr, timed, kernels).planned_bytes > budget ? 1 : 0;
      const auto refitted = refit_swap(model, nullptr, timed, budget, kernels);
      if (!refitted) continue;
      EXPECT_EQ(refitted->swap.times.read_bytes_per_second, speed);
      EXPECT_LE(plan_training(model, nullptr, *refitted, kernels).planned_bytes, budget);
      EXPECT_LE(Trainer(model, nullptr, *refitted, kernels).planned_bytes(), budget);
    }
  }
  EXPECT_GT(outgrown, 0);
}

// Transfers are measured in one plan, and the training is another.
TEST(MemoryFitTest, KernelsThatWereChosenWithMoreRoomDoNotBreakTheBudget) {
  const ModelDescription model = model_with_norm();
  KernelSelector kernels = test::fixed_kernels();
  TrainerConfig roomy = config(16);
  roomy.memory_budget_bytes = kNoMemoryBudget;
  const std::size_t taken = Trainer(model, nullptr, roomy, kernels).planned_bytes();
  const KernelChoices choices = kernels.choices();
  const std::size_t budget = whole(model, 16) * 2 / 3;
  ASSERT_LT(budget, taken);
  const TrainerConfig fitted =
      fit(model, config(16), {.budget_bytes = budget, .may_swap = true}).config;
  const auto refitted = refit_swap(model, nullptr, fitted, budget, kernels);
  ASSERT_TRUE(refitted);
  EXPECT_LE(Trainer(model, nullptr, *refitted, kernels).planned_bytes(), budget);
  EXPECT_EQ(kernels.choices(), choices);
}

WeightMap trained(const ModelDescription& model, const TrainerConfig& config) {
  KernelSelector kernels = test::fixed_kernels();
  Trainer trainer(model, nullptr, config, kernels);
  trainer.allocate(test::random_weights(model, 1));
  test::ToySource source(64, 8 * 16 * 16);
  Trainer::Callbacks callbacks;
  callbacks.order = [](std::int64_t) {
    std::vector<std::int64_t> order(64);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    return order;
  };
  trainer.run(source, callbacks);
  WeightMap weights;
  trainer.network().save(weights);
  return weights;
}

// Dropout's masks do not depend on how the batch is cut either.
TEST(MemoryFitTest, MicroBatchesTrainTheSameToRounding) {
  test::ModelBuilder b({8, 16, 16});
  b.conv(8, 3).layer("tanh").layer("dropout").conv(8, 3).layer("tanh");
  const ModelDescription model = b.layer("global_average_pool").fc(3).model();
  for (const double clip : {0.0, 0.05}) {
    TrainerConfig c = config(16);
    c.optimizer.learning_rate = 0.05;
    c.clip_norm = clip;
    const WeightMap expected = trained(model, c);
    for (const std::int64_t micro : {8, 4, 1}) {
      c.micro_batch = micro;
      for (const auto& [name, tensor] : trained(model, c)) {
        const auto& right = expected.at(name).data;
        double difference = 0, size = 1e-12;
        for (std::size_t i = 0; i < right.size(); ++i) {
          difference += std::abs(double(tensor.data[i]) - right[i]);
          size += std::abs(double(right[i]));
        }
        EXPECT_LE(difference, 1e-4 * size) << name << " in micro-batches of " << micro;
      }
    }
  }
}

TEST(MemoryFitTest, SwapTrainsTheSameBits) {
  const ModelDescription model = model_with_norm();
  TrainerConfig plain = config(16);
  plain.memory_budget_bytes = std::size_t{1} << 60;  // the same kernels
  TrainerConfig swapped = plain;
  swapped.swap.mode = SwapMode::kProactive;
  const WeightMap expected = trained(model, plain);
  for (const auto& [name, tensor] : trained(model, swapped))
    EXPECT_EQ(tensor.data, expected.at(name).data) << name;
}

TEST(MemoryFitTest, ATrainerRefusesMicroBatchesOfWhatMixesSamples) {
  TrainerConfig c = config(16);
  c.micro_batch = 4;
  KernelSelector kernels = test::fixed_kernels();
  test::expect_error(ErrorCode::kInvalidArgument, "normalises over its batch",
                     [&] { Trainer(model_with_norm(), nullptr, c, kernels); });
  c.micro_batch = 3;
  EXPECT_THROW(Trainer(model_without_norm(), nullptr, c, kernels), Error);
}

}  // namespace
}  // namespace moil
