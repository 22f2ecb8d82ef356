#include "engine/train/schedule.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"

namespace moil {
namespace {

ScheduleConfig config_of(ScheduleKind kind) {
  ScheduleConfig config;
  config.kind = kind;
  return config;
}

TEST(Schedule, ConstantStepAndExponential) {
  EXPECT_DOUBLE_EQ(learning_rate(config_of(ScheduleKind::kConstant), 0.1, 99, 100, 10), 0.1);
  auto step = config_of(ScheduleKind::kStep);
  step.step_epochs = 3;
  EXPECT_DOUBLE_EQ(learning_rate(step, 1, 29, 100, 10), 1);
  EXPECT_DOUBLE_EQ(learning_rate(step, 1, 30, 100, 10), 0.1);
  EXPECT_NEAR(learning_rate(step, 1, 60, 100, 10), 0.01, 1e-15);
  step.step_epochs = 2.5;  // of 10 steps
  EXPECT_DOUBLE_EQ(learning_rate(step, 1, 24, 100, 10), 1);
  EXPECT_DOUBLE_EQ(learning_rate(step, 1, 25, 100, 10), 0.1);
  EXPECT_NEAR(learning_rate(step, 1, 50, 100, 10), 0.01, 1e-15);
  auto exponential = config_of(ScheduleKind::kExponential);
  exponential.gamma = 0.5;
  EXPECT_DOUBLE_EQ(learning_rate(exponential, 1, 9, 100, 10), 1);
  EXPECT_DOUBLE_EQ(learning_rate(exponential, 1, 25, 100, 10), 0.25);
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
  const auto error = [](const std::function<void(ScheduleConfig&)>& spoil) -> std::string {
    ScheduleConfig config;
    spoil(config);
    try {
      check(config);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(error([](auto&) {}), "");
  EXPECT_NE(error([](auto& c) { c.gamma = 0; }).find("gamma"), std::string::npos);
  EXPECT_NE(error([](auto& c) { c.step_epochs = 0; }).find("step_epochs"), std::string::npos);
  EXPECT_NE(error([](auto& c) { c.final_rate = -1; }).find("final_rate"), std::string::npos);
  EXPECT_NE(error([](auto& c) { c.warmup_epochs = -1; }).find("warmup_epochs"), std::string::npos);
  EXPECT_NE(error([](auto& c) { c.warmup_start = 0; }).find("warmup_start"), std::string::npos);
}

}  // namespace
}  // namespace moil
