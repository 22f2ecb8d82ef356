#include "daemon/jobs/settlement.h"

#include <vector>

#include "daemon/log/job_log.h"
#include "daemon/spec/job_result.h"
#include "daemon/state/job_samples.h"

namespace moil::daemon {
namespace {

constexpr double kLongestWaitForRoomSeconds = 900;

}  // namespace

void Settlement::settle(std::int64_t id, const Outcome& outcome, const std::string& stop_reason) {
  s_.reserve.for_record([&] {
    try {
      record(s_.jobs.get(id), outcome, stop_reason);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInternal) throw;
      died(s_.jobs.get(id), error.what());  // the worker did not do what it said
    } catch (const Json::exception& error) {
      died(s_.jobs.get(id), std::string("the worker's result makes no sense: ") + error.what());
    }
  });
  const Job job = s_.jobs.get(id);
  s_.folder.settle(job);
  job_log(id, job.spec.model, "", "state").info("{}", to_string(job.state));
  s_.changed(id);
  if (is_finished(job.state)) s_.finished(id);
}

void Settlement::record(const Job& job, const Outcome& outcome, const std::string& stop_reason) {
  using Kind = Outcome::Kind;
  const bool passing = outcome.kind == Kind::kNoRoom || outcome.kind == Kind::kNoStart;
  const bool decided = outcome.kind == Kind::kResult || outcome.kind == Kind::kRefused;
  if (!passing) s_.hold.clear();
  if (job.cancelling && (!decided || !job.base_version))
    return s_.jobs.end(job.id, JobState::kCancelled, "cancelled");
  if (!job.base_version) return s_.jobs.pause(job.id, kOtherBase);
  switch (outcome.kind) {
    case Kind::kResult:
      return record_result(job, outcome.result);
    case Kind::kRefused:
      return s_.jobs.end(job.id, JobState::kFailed, outcome.message);
    case Kind::kStopped:
      return s_.jobs.pause(job.id, stop_reason);
    case Kind::kNoRoom:
      return wait_for_room(job, outcome.message);
    case Kind::kNoStart:
      s_.jobs.take_back(job.id, outcome.message);
      return s_.hold.again(QueueHold::Cause::kStart, outcome.message,
                           {.first_seconds = s_.config.poll_seconds});
    case Kind::kDied:
      return died(job, outcome.message);
  }
}

// What learned from a sample that was forgotten meanwhile is not put in service: the last look is
// here, on the thread that also takes what is forgotten from the versions that are recorded.
void Settlement::record_result(const Job& job, const Json& result) {
  const JobSamples samples = samples_of_job(s_.layout, job.id);
  if (s_.labels.has_all(samples.trained) && s_.labels.has_all(samples.others))
    return s_.jobs.finish(job.id, result, samples.trained, s_.labels.newest_change());
  if (job.cancelling) return s_.jobs.end(job.id, JobState::kCancelled, "cancelled");
  s_.folder.drop_work(job.id);
  s_.jobs.pause(job.id, kForgotten);
}

void Settlement::settle_found() {
  std::vector<Job> started;
  s_.jobs.list(JobState::kQueued, 0, Details::kWithout, [&](const Job& job) {
    if (job.version && job.base_version) started.push_back(job);
    return true;
  });
  for (const Job& job : started) {
    try {
      s_.reserve.for_record([&] { settle_found(job); });
    } catch (const std::exception& error) {  // it is resumed, and ends again
      job_log(job.id, job.spec.model).error("its result cannot be recorded: {}", error.what());
    }
  }
}

void Settlement::settle_found(const Job& job) {
  auto result = finished_result(s_.layout, job.id, job.spec.model, *job.version);
  if (!result) return;
  add_energy(*result, s_.layout.job_energy(job.id));
  record_result(job, *result);
  const Job settled = s_.jobs.get(job.id);
  if (!is_finished(settled.state)) return;
  job_log(job.id, job.spec.model).info("had finished before the daemon was started again");
  s_.folder.settle(settled);
}

void Settlement::wait_for_room(const Job& job, const std::string& why) {
  s_.jobs.pause(job.id, "waits for room on the disk: " + why);
  s_.delays.let_others_first(job.id);
  s_.hold.again(QueueHold::Cause::kRoom,
                "job " + std::to_string(job.id) + " found no room on the disk: " + why,
                {s_.config.worker.backoff_seconds, kLongestWaitForRoomSeconds});
}

void Settlement::died(const Job& job, const std::string& why) {
  const int failures = job.failures + 1;
  if (failures >= s_.config.worker.attempts) {
    return s_.jobs.end(job.id, JobState::kFailed,
                       why + "; given up after " + std::to_string(failures) + " attempts");
  }
  const auto backoff = s_.delays.backoff(failures);
  s_.jobs.retry(job.id, why, s_.world.now_milliseconds() + backoff.count());
  s_.delays.wait(job.id, backoff);
}

}  // namespace moil::daemon
