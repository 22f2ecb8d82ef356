// A job as the daemon keeps it, and how it is shown on the wire.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/spec/job_spec.h"

namespace moil::daemon {

enum class JobState { kQueued, kRunning, kSucceeded, kFailed, kCancelled, kRejectedByGuard };

EnumNames<JobState> enum_names(JobState);
std::string to_string(JobState state);
JobState state_named(const std::string& name);  // as the database has it; kInternal
inline bool is_finished(JobState s) { return s != JobState::kQueued && s != JobState::kRunning; }

// Times are milliseconds since 1970.
struct Job {
  std::int64_t id = 0;
  JobSpec spec;
  JobState state = JobState::kQueued;
  bool ignore_window = false;  // submitted with now
  bool cancelling = false;     // job.cancel was asked for, the worker is not gone yet
  std::int64_t submitted_at = 0;
  std::optional<std::int64_t> started_at;  // the first attempt
  std::optional<std::int64_t> finished_at;
  std::int64_t not_before = 0;  // a retry waits until then
  int attempts = 0;             // times a worker was started
  int failures = 0;             // times one died unasked
  std::optional<std::int64_t> base_version;
  std::optional<std::int64_t> version;
  std::string schedule;  // of a recurring night: its name; else empty
  std::string message;   // why it is in this state, one sentence
  Json result;           // JobResult as JSON, or null
};

struct JobEvent {
  std::int64_t seq = 0;  // from 1, in a job
  std::int64_t at = 0;
  Json body;  // {"event": "state" | "stage" | "curve", ...}
};

Json to_json(const Job& job, bool with_spec);
Json to_json(const JobEvent& event);

// "2026-11-21T03:15:00Z".
std::string utc_text(std::int64_t milliseconds);

}  // namespace moil::daemon
