#include "daemon/methods/learn_pattern.h"

#include "daemon/state/schedule_store.h"

namespace moil::daemon {
namespace {

std::optional<int> number(const Json& json, const char* pointer) {
  const Json value = json.value(Json::json_pointer(pointer), Json());
  return value.is_number_integer() ? std::optional(value.get<int>()) : std::nullopt;
}

std::optional<LearnPattern> last_job(const JobStore& jobs, const std::string& model) {
  std::optional<LearnPattern> found;
  jobs.list(std::nullopt, 0, Details::kWith, [&](const Job& job) {
    const bool judged =
        job.state == JobState::kSucceeded || job.state == JobState::kRejectedByGuard;
    if (job.spec.model != model || !judged || !job.result.is_object()) return true;
    found = LearnPattern{job.spec, number(job.result, "/details/freeze/trained_units"),
                         number(job.result, "/details/freeze/units")};
    return false;
  });
  return found;
}

std::optional<LearnPattern> schedule_of(const ScheduleStore& schedules, const std::string& model) {
  for (const Schedule& schedule : schedules.all())
    if (schedule.spec.job.model == model) return LearnPattern{schedule.spec.job, {}, {}};
  return std::nullopt;
}

}  // namespace

std::optional<LearnPattern> learn_pattern(const JobStore& jobs, const ScheduleStore& schedules,
                                          const std::string& model) {
  const auto pattern = last_job(jobs, model);
  return pattern ? pattern : schedule_of(schedules, model);
}

}  // namespace moil::daemon
