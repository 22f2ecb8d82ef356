// Learning-rate schedules: a pure function of the step, so that a resumed run needs no state.
#pragma once

#include <cstdint>
#include <string_view>

namespace moil {

enum class ScheduleKind : std::uint8_t { kConstant, kStep, kCosine, kExponential };
std::string_view to_string(ScheduleKind kind);
// Throws kInvalidArgument for an unknown name, with the known ones.
[[nodiscard]] ScheduleKind schedule_kind(std::string_view name);

struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::kConstant;
  double gamma = 0.1;         // kStep: factor every step_epochs; kExponential: every epoch
  double step_epochs = 1;     // kStep; also a part of an epoch
  double final_rate = 0;      // kCosine: where it ends
  double warmup_epochs = 0;   // a linear rise before the schedule proper begins
  double warmup_start = 0.1;  // the rise begins at this share of the base, above 0, at most 1
};

// Throws kInvalidArgument naming the number that is out of its range.
void check(const ScheduleConfig& config);

// The rate of step `step` (from 0) of `total_steps`. Cosine falls with every step, kExponential at
// epoch boundaries, kStep whenever step_epochs end; all count from the end of the warm-up. Expects
// a checked config, 0 <= step < total_steps and steps_per_epoch >= 1.
[[nodiscard]] double learning_rate(const ScheduleConfig& config, double base, std::int64_t step,
                                   std::int64_t total_steps, std::int64_t steps_per_epoch);

// A part of the schedule, from begin to end of it (0 to 1), that some steps of a run go through:
// if the steps' time changes, the rate may follow the time instead of their number.
struct ScheduleSpan {
  double begin = 0, end = 1;
  std::int64_t first_step = 0, steps = 0;
};

// The step of the schedule (learning_rate()'s) for a step of the run. Expects first_step <= step
// <= first_step + steps, and at least one of them.
[[nodiscard]] std::int64_t scheduled_step(const ScheduleSpan& span, std::int64_t step,
                                          std::int64_t total_steps);

}  // namespace moil
