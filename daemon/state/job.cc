#include "daemon/state/job.h"

#include <ctime>

#include "base/error.h"

namespace moil::daemon {
namespace {

Json time_or_null(const std::optional<std::int64_t>& milliseconds) {
  return milliseconds ? Json(utc_text(*milliseconds)) : Json(nullptr);
}

}  // namespace

EnumNames<JobState> enum_names(JobState) {
  return {{JobState::kQueued, "queued"},       {JobState::kRunning, "running"},
          {JobState::kSucceeded, "succeeded"}, {JobState::kFailed, "failed"},
          {JobState::kCancelled, "cancelled"}, {JobState::kRejectedByGuard, "rejected-by-guard"}};
}

std::string to_string(JobState state) { return name_of(state); }

JobState state_named(const std::string& name) {
  for (const auto& [state, known] : enum_names(JobState{})) {
    if (known == name) return state;
  }
  throw Error(ErrorCode::kInternal, "unknown job state \"" + name + "\" in the database");
}

Json to_json(const Job& job, bool with_spec) {
  Json out{{"id", job.id},
           {"name", job.spec.name},
           {"model", job.spec.model},
           {"state", to_string(job.state)},
           {"now", job.ignore_window},
           {"schedule", job.schedule.empty() ? Json(nullptr) : Json(job.schedule)},
           {"cancelling", job.cancelling},
           {"submitted_at", utc_text(job.submitted_at)},
           {"started_at", time_or_null(job.started_at)},
           {"finished_at", time_or_null(job.finished_at)},
           {"attempts", job.attempts},
           {"failures", job.failures},
           {"base_version", or_null(job.base_version)},
           {"version", or_null(job.version)},
           {"message", job.message},
           {"result", job.result}};
  if (with_spec) out["spec"] = to_json(job.spec);
  return out;
}

Json to_json(const JobEvent& event) {
  return {{"seq", event.seq}, {"at", utc_text(event.at)}, {"event", event.body}};
}

std::string utc_text(std::int64_t milliseconds) {
  const std::time_t seconds = milliseconds / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace moil::daemon
