#include "engine/train/schedule.h"

#include <gtest/gtest.h>

#include "tests/errors.h"

namespace moil {
namespace {

ScheduleConfig config_of(ScheduleKind kind) {
  ScheduleConfig config;
  config.kind = kind;
  return config;
}

TEST(Schedule, ConstantStepAndExponential) {
  const auto constant = config_of(ScheduleKind::kConstant);
  auto step = config_of(ScheduleKind::kStep), early = step;
  step.step_epochs = 3;
  early.step_epochs = 2.5;  // of 10 steps
  auto exponential = config_of(ScheduleKind::kExponential);
  exponential.gamma = 0.5;
  const struct {
    const ScheduleConfig& schedule;
    std::int64_t step;
    double rate;
  } rows[] = {{constant, 99, 1}, {step, 29, 1},       {step, 30, 0.1},
              {step, 60, 0.01},  {early, 24, 1},      {early, 25, 0.1},
              {early, 50, 0.01}, {exponential, 9, 1}, {exponential, 25, 0.25}};
  for (const auto& row : rows)
    EXPECT_NEAR(learning_rate(row.schedule, 1, row.step, 100, 10), row.rate, 1e-15) << row.step;
}

TEST(Schedule, CosineFallsFromTheBaseToTheFinalRate) {
  auto cosine = config_of(ScheduleKind::kCosine);
  cosine.final_rate = 0.2;
  EXPECT_DOUBLE_EQ(learning_rate(cosine, 1, 0, 100, 10), 1);
  EXPECT_NEAR(learning_rate(cosine, 1, 50, 100, 10), 0.6, 1e-12);
  EXPECT_NEAR(learning_rate(cosine, 1, 99, 100, 10), 0.2, 1e-3);
  for (int step = 1; step < 100; ++step) {
    EXPECT_LT(learning_rate(cosine, 1, step, 100, 10), learning_rate(cosine, 1, step - 1, 100, 10));
  }
}

TEST(Schedule, WarmupRisesThenTheScheduleBegins) {
  auto cosine = config_of(ScheduleKind::kCosine);
  cosine.warmup_epochs = 2;
  EXPECT_DOUBLE_EQ(learning_rate(cosine, 1, 0, 100, 10), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(cosine, 1, 10, 100, 10), 0.55);
  EXPECT_DOUBLE_EQ(learning_rate(cosine, 1, 20, 100, 10), 1);
  EXPECT_NEAR(learning_rate(cosine, 1, 60, 100, 10), 0.5, 1e-12);
  auto step = config_of(ScheduleKind::kStep);
  step.warmup_epochs = 0.5;
  EXPECT_DOUBLE_EQ(learning_rate(step, 1, 14, 100, 10), 1);
  EXPECT_DOUBLE_EQ(learning_rate(step, 1, 15, 100, 10), 0.1);
}

// A job shorter than its warm-up ends while the rate still rises.
TEST(Schedule, WarmupLongerThanTheRun) {
  auto cosine = config_of(ScheduleKind::kCosine);
  cosine.warmup_epochs = 20;
  for (int step = 0; step < 100; ++step) {
    const double rate = learning_rate(cosine, 1, step, 100, 10);
    EXPECT_GE(rate, 0.1);
    EXPECT_LT(rate, 1);
  }
}

TEST(Schedule, APartOfItIsGoneThroughInAsManyStepsAsThereAre) {
  const ScheduleSpan whole{0, 1, 0, 70};
  for (std::int64_t step = 0; step < 70; ++step) EXPECT_EQ(scheduled_step(whole, step, 70), step);
  const ScheduleSpan fast{0.2, 0.8, 100, 10};  // six tenths in a tenth of the steps
  EXPECT_EQ(scheduled_step(fast, 100, 100), 20);
  EXPECT_EQ(scheduled_step(fast, 105, 100), 50);
  EXPECT_EQ(scheduled_step(fast, 110, 100), 80);
  EXPECT_EQ(scheduled_step({1, 1, 0, 1}, 0, 100), 99);  // the end is the last step
}

TEST(Schedule, NamesAreStableAndUnknownOnesRefused) {
  for (const char* name : {"constant", "step", "cosine", "exponential"})
    EXPECT_EQ(to_string(schedule_kind(name)), name);
  EXPECT_THROW((void)schedule_kind("linear"), Error);
}

TEST(Schedule, RefusesNumbersOutOfRange) {
  EXPECT_NO_THROW(check(ScheduleConfig{}));
  const auto expect_refused = [](const char* name, double ScheduleConfig::*number, double value) {
    ScheduleConfig config;
    config.*number = value;
    test::expect_error(ErrorCode::kInvalidArgument, name, [&] { check(config); });
  };
  expect_refused("gamma", &ScheduleConfig::gamma, 0);
  expect_refused("step_epochs", &ScheduleConfig::step_epochs, 0);
  expect_refused("final_rate", &ScheduleConfig::final_rate, -1);
  expect_refused("warmup_epochs", &ScheduleConfig::warmup_epochs, -1);
  expect_refused("warmup_start", &ScheduleConfig::warmup_start, 0);
}

}  // namespace
}  // namespace moil
