#include "engine/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/error.h"

namespace moil {
namespace {

void require_of_schedule(bool holds, const char* what) {
  if (!holds) throw Error(ErrorCode::kInvalidArgument, std::string("schedule: ") + what);
}

}  // namespace

std::string_view to_string(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::kConstant:
      return "constant";
    case ScheduleKind::kStep:
      return "step";
    case ScheduleKind::kCosine:
      return "cosine";
    case ScheduleKind::kExponential:
      return "exponential";
  }
  return "?";
}

ScheduleKind schedule_kind(std::string_view name) {
  for (const auto kind : {ScheduleKind::kConstant, ScheduleKind::kStep, ScheduleKind::kCosine,
                          ScheduleKind::kExponential}) {
    if (to_string(kind) == name) return kind;
  }
  throw Error(ErrorCode::kInvalidArgument, "unknown schedule \"" + std::string(name) +
                                               "\"; known: constant, step, cosine, exponential");
}

void check(const ScheduleConfig& config) {
  require_of_schedule(config.gamma > 0 && std::isfinite(config.gamma), "gamma must be above 0");
  require_of_schedule(config.step_epochs > 0 && std::isfinite(config.step_epochs),
                      "step_epochs must be above 0");
  require_of_schedule(config.final_rate >= 0 && std::isfinite(config.final_rate),
                      "final_rate must be at least 0");
  require_of_schedule(config.warmup_epochs >= 0 && std::isfinite(config.warmup_epochs),
                      "warmup_epochs must be at least 0");
  require_of_schedule(config.warmup_start > 0 && config.warmup_start <= 1,
                      "warmup_start must be above 0 and at most 1");
}

double learning_rate(const ScheduleConfig& config, double base, std::int64_t step,
                     std::int64_t total_steps, std::int64_t steps_per_epoch) {
  const auto warmup = static_cast<std::int64_t>(
      std::llround(config.warmup_epochs * static_cast<double>(steps_per_epoch)));
  if (step < warmup) {
    const double risen = static_cast<double>(step) / static_cast<double>(warmup);
    return base * (config.warmup_start + (1 - config.warmup_start) * risen);
  }
  const std::int64_t since = step - warmup;
  switch (config.kind) {
    case ScheduleKind::kConstant:
      return base;
    case ScheduleKind::kStep:
      return base *
             std::pow(config.gamma,
                      std::floor(static_cast<double>(since) /
                                 (config.step_epochs * static_cast<double>(steps_per_epoch))));
    case ScheduleKind::kExponential:
      return base * std::pow(config.gamma, static_cast<double>(since / steps_per_epoch));
    case ScheduleKind::kCosine: {
      const double share = static_cast<double>(since) / static_cast<double>(total_steps - warmup);
      return config.final_rate +
             (base - config.final_rate) * (1 + std::cos(std::numbers::pi * share)) / 2;
    }
  }
  return base;
}

std::int64_t scheduled_step(const ScheduleSpan& span, std::int64_t step, std::int64_t total_steps) {
  const double share =
      static_cast<double>(step - span.first_step) / static_cast<double>(span.steps);
  const double at = span.begin + (span.end - span.begin) * share;
  constexpr double kRounding = 1e-6;  // of a step: a whole one must not end just below
  const auto scheduled =
      static_cast<std::int64_t>(at * static_cast<double>(total_steps) + kRounding);
  return std::clamp<std::int64_t>(scheduled, 0, total_steps - 1);
}

}  // namespace moil
