// Which job a model's next by day is like (learn_spec.h).
#pragma once

#include <optional>
#include <string>

#include "daemon/spec/learn_spec.h"

namespace moil::daemon {

class JobStore;
class ScheduleStore;

// The model's latest job that came to a verdict, else its first schedule.
[[nodiscard]] std::optional<LearnPattern> learn_pattern(const JobStore& jobs,
                                                        const ScheduleStore& schedules,
                                                        const std::string& model);

}  // namespace moil::daemon
