#include "daemon/service/scheduler.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "daemon/state/job_samples.h"

namespace moil::daemon {
namespace {

constexpr double kLongestBackoffSeconds = 3600;
constexpr const char* kForgotten = "a sample was forgotten; the night begins anew without it";

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

}  // namespace

Scheduler::Scheduler(EventLoop& loop, const Config& config, const WorkerCommand& command,
                     const StateLayout& layout, const World& world, JobStore& jobs,
                     const data::LabelStore& labels, Listener listener)
    : loop_(loop),
      config_(config),
      command_(command),
      layout_(layout),
      world_(world),
      jobs_(jobs),
      labels_(labels),
      listener_(std::move(listener)) {
  wake();
}

Scheduler::~Scheduler() { loop_.cancel(timer_); }

void Scheduler::wake() {
  loop_.cancel(timer_);
  timer_ = loop_.after(std::chrono::milliseconds(0), [this] { tick(); });
}

void Scheduler::tick() {
  timer_ = loop_.after(milliseconds(config_.poll_seconds), [this] { tick(); });
  try {
    look();
  } catch (const Error& error) {
    spdlog::error("the queue cannot be read or written: {}", error.what());
  }
}

void Scheduler::look() {
  if (ended_) settle_ended();
  if (shut_down_done_ || ended_) return;
  if (runner_) return stop_if_closed();
  const auto job = jobs_.next(world_.now_milliseconds(), verdict().open);
  if (job) start(*job);
}

Verdict Scheduler::verdict() const {
  return judge(config_.night(), config_.conditions, world_, runner_ != nullptr);
}

void Scheduler::stop_if_closed() {
  if (runs_now_ || runner_->is_stopping()) return;
  const Verdict now = verdict();
  if (now.open) return;
  stop_reason_ = now.reason;
  spdlog::info("job {}: asked to stop, {}", runner_->job(), stop_reason_);
  runner_->stop(grace());
}

void Scheduler::start(const Job& job) {
  const std::int64_t id = job.id;
  try {
    JobFile file = jobs_.start(id);
    file.threads = file.spec.threads.value_or(command_.default_threads());
    file.cache_quota_bytes = config_.cache.quota_bytes;
    progress_ = nullptr;
    stop_reason_.clear();
    runs_now_ = job.ignore_window;
    JobRunner::Callbacks callbacks;
    callbacks.progress = [this, id](const Json& event) {
      progress_ = event;
      listener_.progress(id, event);
    };
    callbacks.event = [this, id](const Json& event) {
      try {
        jobs_.add_event(id, event);
        listener_.changed(id);
      } catch (const Error& error) {
        spdlog::error("job {}: an event is lost: {}", id, error.what());
      }
    };
    callbacks.ended = [this](const Outcome& outcome) { ended(outcome); };
    runner_ = std::make_unique<JobRunner>(loop_, command_, layout_, file, std::move(callbacks));
  } catch (const Error& error) {
    spdlog::error("job {}: cannot start: {}", id, error.what());
    jobs_.end(id, JobState::kFailed, error.what());
    wake();
  }
  listener_.changed(id);
}

void Scheduler::ended(const Outcome& outcome) {
  const auto gone = std::move(runner_);  // until the end of this function
  ended_.emplace(gone->job(), outcome);
  if (!when_dropped_.empty() && outcome.kind != Outcome::Kind::kResult) drop_work(gone->job());
  progress_ = nullptr;
  try {
    settle_ended();
  } catch (const Error& error) {
    spdlog::error("job {}: its end cannot be recorded: {}", gone->job(), error.what());
  }
  for (const auto& done : std::exchange(when_dropped_, {})) done();
  if (shut_down_done_) return loop_.post(std::exchange(shut_down_done_, [] {}));
  if (!ended_) wake();
}

void Scheduler::settle_ended() {
  const auto& [id, outcome] = *ended_;
  try {
    settle(jobs_.get(id), outcome);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInternal) throw;
    died(jobs_.get(id), error.what());  // the worker did not do what it said
  }
  const JobState state = jobs_.get(id).state;
  if (is_finished(state)) remove_job_folder(id);
  spdlog::info("job {}: {}", id, to_string(state));
  listener_.changed(id);
  ended_.reset();
}

void Scheduler::settle(const Job& job, const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::kResult:
      return settle_result(job, outcome.result);
    case Outcome::Kind::kRefused:
      return jobs_.end(job.id, JobState::kFailed, outcome.message);
    case Outcome::Kind::kStopped:
      if (job.cancelling) return jobs_.end(job.id, JobState::kCancelled, "cancelled");
      return jobs_.pause(job.id, stop_reason_);
    case Outcome::Kind::kDied:
      if (job.cancelling) return jobs_.end(job.id, JobState::kCancelled, "cancelled");
      return died(job, outcome.message);
  }
}

// What learned from a sample that was forgotten meanwhile is not put in service: the last look is
// here, on the thread that also takes what is forgotten from the versions that are recorded.
void Scheduler::settle_result(const Job& job, const Json& result) {
  const JobSamples samples = samples_of_job(layout_, job.id);
  const auto gone = [&](const data::Digest& digest) { return !labels_.has(digest); };
  if (std::ranges::none_of(samples.trained, gone) && std::ranges::none_of(samples.others, gone))
    return jobs_.finish(job.id, result, samples.trained);
  if (job.cancelling) return jobs_.end(job.id, JobState::kCancelled, "cancelled");
  drop_work(job.id);
  jobs_.pause(job.id, kForgotten);
}

void Scheduler::begin_anew(std::span<const std::int64_t> jobs, std::function<void()> done) {
  bool later = false;
  for (const std::int64_t job : jobs) {
    if (runner_ && runner_->job() == job) {
      later = true;
      if (runner_->is_stopping()) continue;
      stop_reason_ = kForgotten;
      runner_->stop(grace());
    } else {
      drop_work(job);
    }
  }
  if (!later) return done();
  when_dropped_.push_back(std::move(done));
}

// All but the job's description, and the version that it may have written: the next attempt draws
// its samples anew.
void Scheduler::drop_work(std::int64_t job) const {
  std::error_code error;
  std::vector<std::filesystem::path> made;
  for (const auto& entry : std::filesystem::directory_iterator(layout_.job(job), error)) {
    if (entry.path() != layout_.job_file(job)) made.push_back(entry.path());
  }
  try {
    const Job found = jobs_.get(job);
    if (found.version && !is_finished(found.state)) {
      made.push_back(layout_.incoming(found.spec.model, *found.version));
      made.push_back(layout_.version(found.spec.model, *found.version));
    }
  } catch (const Error& e) {  // a folder that is no job's
    spdlog::warn("job {}: {}", job, e.what());
  }
  for (const auto& path : made) {
    std::filesystem::remove_all(path, error);
    if (error) spdlog::warn("cannot remove {}: {}", path.string(), error.message());
  }
}

void Scheduler::died(const Job& job, const std::string& why) {
  const int failures = job.failures + 1;
  if (failures >= config_.worker.attempts) {
    return jobs_.end(job.id, JobState::kFailed,
                     why + "; given up after " + std::to_string(failures) + " attempts");
  }
  const double backoff =
      std::min(config_.worker.backoff_seconds * std::pow(2, job.failures), kLongestBackoffSeconds);
  jobs_.retry(job.id, why, world_.now_milliseconds() + milliseconds(backoff).count());
  loop_.after(milliseconds(backoff), [this] { wake(); });
}

void Scheduler::cancel(std::int64_t job) {
  const Job found = jobs_.get(job);
  if (is_finished(found.state)) {
    throw Error(ErrorCode::kFailedPrecondition,
                "job " + std::to_string(job) + " is " + to_string(found.state) + " already");
  }
  if (runner_ && runner_->job() == job) {
    jobs_.set_cancelling(job);
    runner_->stop(grace());
    return;
  }
  jobs_.end(job, JobState::kCancelled, "cancelled");
  remove_job_folder(job);
  listener_.changed(job);
}

void Scheduler::shut_down(std::function<void()> done) {
  shut_down_done_ = std::move(done);
  if (!runner_) return loop_.post(std::exchange(shut_down_done_, [] {}));
  stop_reason_ = "the daemon was stopped";
  runner_->stop(grace());
}

std::optional<std::int64_t> Scheduler::running() const {
  if (!runner_) return std::nullopt;
  return runner_->job();
}

Json Scheduler::progress(std::int64_t job) const {
  return runner_ && runner_->job() == job ? progress_ : Json(nullptr);
}

void Scheduler::remove_job_folder(std::int64_t job) const {
  std::error_code error;
  std::filesystem::remove_all(layout_.job(job), error);
  if (error) spdlog::warn("cannot remove {}: {}", layout_.job(job).string(), error.message());
}

std::chrono::milliseconds Scheduler::grace() const {
  return milliseconds(config_.worker.stop_seconds);
}

}  // namespace moil::daemon
