#include "daemon/jobs/scheduler.h"

#include <algorithm>
#include <cmath>

#include "base/durations.h"
#include "daemon/log/job_log.h"
#include "daemon/log/log.h"
#include "daemon/process/cpu_limit.h"
#include "daemon/spec/job_result.h"
#include "daemon/spec/processor_use.h"
#include "daemon/state/job_samples.h"
#include "daemon/state/lost_nights.h"

namespace moil::daemon {
namespace {

constexpr double kLongestBackoffSeconds = 3600;
constexpr const char* kForgotten = "a sample was forgotten; the night begins anew without it";
constexpr const char* kOtherBase =
    "another version was put in service; the night begins anew from it";
constexpr double kLongestHoldSeconds = 300, kLongestWaitForRoomSeconds = 900;

}  // namespace

Scheduler::Scheduler(EventLoop& loop, const Config& config, const WorkerCommand& command,
                     const StateLayout& layout, const World& world, JobStore& jobs,
                     const data::LabelStore& labels, DiskReserve& reserve, Flusher& flusher,
                     Listener listener)
    : loop_(loop),
      config_(config),
      command_(command),
      layout_(layout),
      world_(world),
      jobs_(jobs),
      labels_(labels),
      reserve_(reserve),
      listener_(std::move(listener)),
      folder_(layout_, jobs, flusher),
      hold_(world, layout.root()),
      waits_(read_lost_nights(layout.lost_nights())) {
  remember_delays();
  wake();
}

Scheduler::~Scheduler() { loop_.cancel(timer_); }

void Scheduler::wake() {
  loop_.cancel(timer_);
  timer_ = loop_.after(std::chrono::milliseconds(0), [this] { tick(); });
}

void Scheduler::tick() {
  timer_ = loop_.after(config_.poll(), [this] { tick(); });
  try {
    reserve_.restore();
    look();
  } catch (const std::exception& error) {
    log_error("the queue cannot be read or written: {}", error.what());
  }
}

void Scheduler::look() {
  if (ended_) settle_ended();
  if (shut_down_done_ || ended_) return;
  if (runner_) {
    if (runs_now_) return;  // a user who asked for it now did not ask for the device's comfort
    const DeviceReading device = world_.device();
    watch_the_heat(device);
    return stop_if_closed(device);
  }
  const Verdict now = verdict();
  watch_the_wait(now);
  if (hold_.holds()) return;
  const auto job = next_job(now.open);
  if (job) start(*job);
}

void Scheduler::watch_the_wait(const Verdict& verdict) {
  if (jobs_.count(JobState::kQueued) == 0) return forget_the_wait();
  const std::int64_t most = 3 * config_.poll().count();
  const LostNights before = waits_.lost();
  waits_.look(verdict, world_.steady_milliseconds(), most);
  keep_lost_nights(before);
}

void Scheduler::forget_the_wait() {
  const LostNights before = waits_.lost();
  waits_.clear();
  keep_lost_nights(before);
}

// Once a night. Where it fails, a restart begins to count anew, and that is all.
void Scheduler::keep_lost_nights(const LostNights& before) {
  if (waits_.lost() == before) return;
  try {
    write_lost_nights(layout_.lost_nights(), waits_.lost());
  } catch (const std::exception& error) {
    log_warn("how many nights went by without a start cannot be noted: {}", error.what());
  }
}

// Those that ran out of room let others go first: these may need less.
std::optional<Job> Scheduler::next_job(bool window_open) {
  std::vector<std::int64_t> waiting;
  for (const auto& [job, until] : retry_at_) {
    if (world_.steady_milliseconds() < until) waiting.push_back(job);
  }
  std::vector<std::int64_t> others = waiting;
  others.insert(others.end(), short_of_room_.begin(), short_of_room_.end());
  const auto job = jobs_.next(window_open, others);
  if (job || short_of_room_.empty()) return job;
  short_of_room_.clear();
  return jobs_.next(window_open, waiting);
}

// What an earlier run of the daemon let wait: by its clock, which may have been any. No wait is
// longer than a backoff can be.
void Scheduler::remember_delays() {
  const std::int64_t now = world_.now_milliseconds();
  for (const Job& job : jobs_.delayed(now)) {
    const std::int64_t longest = milliseconds(backoff_seconds(job.failures)).count();
    retry_at_[job.id] = world_.steady_milliseconds() + std::min(job.not_before - now, longest);
  }
}

Verdict Scheduler::verdict() const {
  return judge(config_.nights(), config_.conditions, world_, runner_ != nullptr);
}

Verdict Scheduler::verdict(const DeviceReading& device) const {
  return judge(config_.nights(), config_.conditions, world_.local_time(), device,
               runner_ != nullptr);
}

void Scheduler::stop_if_closed(const DeviceReading& device) {
  if (runner_->is_stopping()) return;
  const Verdict now = verdict(device);
  if (now.open) return;
  stop_reason_ = now.reason;
  job_log(runner_->job()).info("asked to stop, {}", stop_reason_);
  runner_->stop(grace());
}

void Scheduler::watch_the_heat(const DeviceReading& device) {
  const auto temperature = device.temperature_c;
  const int all = usable_cpus();
  const int cpus = heat_.cpus(temperature, config_.conditions.max_temperature_c, all,
                              world_.steady_milliseconds());
  if (cpus == runner_->cpus() || !runner_->use_cpus(cpus)) return;
  const std::string text = "goes on with " + std::to_string(cpus) + " of " + std::to_string(all) +
                           " CPUs: the device is at " +
                           std::to_string(std::lround(temperature.value_or(0))) + " C";
  job_log(runner_->job()).info("{}", text);
  jobs_.add_event(runner_->job(), {{"event", "note"}, {"message", text}});
  listener_.changed(runner_->job());
}

void Scheduler::start(const Job& job) {
  const std::int64_t id = job.id;
  if (const auto why = jobs_.cannot_start(job)) {
    job_log(id, job.spec.model).error("cannot start: {}", *why);
    jobs_.end(id, JobState::kFailed, *why);
    listener_.changed(id);
    return wake();
  }
  try {
    JobFile file = jobs_.prepare(id);
    file.threads = file.spec.threads.value_or(command_.default_threads());
    use_processors(file.spec, config_.worker.processors);
    file.cache_quota_bytes = config_.cache.quota_bytes;
    file.leave_free_bytes = config_.disk.leave_free_bytes;
    folder_.prepare(job, file);
    auto runner = make_runner(file);
    jobs_.begin(id);
    runner_ = std::move(runner);
  } catch (const std::exception& error) {
    return cannot_start(job, error);
  }
  retry_at_.erase(id);
  forget_the_wait();
  progress_ = nullptr;
  stop_reason_.clear();
  runs_now_ = job.ignore_window;
  listener_.changed(id);
}

// What lies in the job fails it; what lies in the device holds the queue.
void Scheduler::cannot_start(const Job& job, const std::exception& error) {
  job_log(job.id, job.spec.model).error("cannot start: {}", error.what());
  const auto* ours = dynamic_cast<const Error*>(&error);
  const bool no_room = dynamic_cast<const DiskFull*>(&error) != nullptr;
  if (ours != nullptr && !no_room && is_final(std::string(to_string(ours->code())))) {
    jobs_.end(job.id, JobState::kFailed, std::string("it cannot start: ") + error.what());
    listener_.changed(job.id);
    return wake();
  }
  hold_.again(no_room ? QueueHold::Cause::kRoom : QueueHold::Cause::kStart,
              "job " + std::to_string(job.id) + " cannot start: " + error.what(),
              {config_.poll_seconds, kLongestHoldSeconds});
}

std::unique_ptr<JobRunner> Scheduler::make_runner(const JobFile& file) {
  JobRunner::Callbacks callbacks;
  callbacks.progress = [this, id = file.id](const Json& event) {
    progress_ = event;
    listener_.progress(id, event);
  };
  callbacks.event = [this, id = file.id](const Json& event) {
    try {
      jobs_.add_event(id, event);
      listener_.changed(id);
    } catch (const std::exception& error) {
      job_log(id).error("an event is lost: {}", error.what());
    }
  };
  callbacks.likenesses = listener_.likenesses;
  callbacks.uses = listener_.uses;
  callbacks.ended = [this](const Outcome& outcome) { ended(outcome); };
  return std::make_unique<JobRunner>(loop_, command_, layout_, world_, file, std::move(callbacks));
}

void Scheduler::ended(const Outcome& outcome) {
  const auto gone = std::move(runner_);  // until the end of this function
  ended_.emplace(gone->job(), outcome);
  listener_.worker_ended(outcome);
  if (!when_dropped_.empty() && outcome.kind != Outcome::Kind::kResult)
    folder_.drop_work(gone->job());
  progress_ = nullptr;
  try {
    settle_ended();
  } catch (const std::exception& error) {
    job_log(gone->job()).error("its end cannot be recorded: {}", error.what());
  }
  for (const auto& done : std::exchange(when_dropped_, {})) done();
  if (shut_down_done_) return loop_.post(std::exchange(shut_down_done_, [] {}));
  if (!ended_) wake();
}

void Scheduler::settle_ended() {
  const auto& [id, outcome] = *ended_;
  reserve_.for_record([&, id = id, &outcome = outcome] {
    try {
      settle(jobs_.get(id), outcome);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInternal) throw;
      died(jobs_.get(id), error.what());  // the worker did not do what it said
    } catch (const Json::exception& error) {
      died(jobs_.get(id), std::string("the worker's result makes no sense: ") + error.what());
    }
  });
  const Job job = jobs_.get(id);
  folder_.settle(job);
  job_log(id, job.spec.model, "", "state").info("{}", to_string(job.state));
  listener_.changed(id);
  if (is_finished(job.state)) listener_.finished(id);
  ended_.reset();
}

void Scheduler::settle(const Job& job, const Outcome& outcome) {
  using Kind = Outcome::Kind;
  const bool passing = outcome.kind == Kind::kNoRoom || outcome.kind == Kind::kNoStart;
  const bool decided = outcome.kind == Kind::kResult || outcome.kind == Kind::kRefused;
  if (!passing) hold_.clear();
  if (job.cancelling && (!decided || !job.base_version))
    return jobs_.end(job.id, JobState::kCancelled, "cancelled");
  if (!job.base_version) return jobs_.pause(job.id, kOtherBase);
  switch (outcome.kind) {
    case Kind::kResult:
      return settle_result(job, outcome.result);
    case Kind::kRefused:
      return jobs_.end(job.id, JobState::kFailed, outcome.message);
    case Kind::kStopped:
      return jobs_.pause(job.id, stop_reason_);
    case Kind::kNoRoom:
      return wait_for_room(job, outcome.message);
    case Kind::kNoStart:
      jobs_.take_back(job.id, outcome.message);
      return hold_.again(QueueHold::Cause::kStart, outcome.message,
                         {config_.poll_seconds, kLongestHoldSeconds});
    case Kind::kDied:
      return died(job, outcome.message);
  }
}

// What learned from a sample that was forgotten meanwhile is not put in service: the last look is
// here, on the thread that also takes what is forgotten from the versions that are recorded.
void Scheduler::settle_result(const Job& job, const Json& result) {
  const JobSamples samples = samples_of_job(layout_, job.id);
  if (labels_.has_all(samples.trained) && labels_.has_all(samples.others))
    return jobs_.finish(job.id, result, samples.trained, labels_.newest_change());
  if (job.cancelling) return jobs_.end(job.id, JobState::kCancelled, "cancelled");
  folder_.drop_work(job.id);
  jobs_.pause(job.id, kForgotten);
}

void Scheduler::settle_found() {
  std::vector<Job> started;
  jobs_.list(JobState::kQueued, 0, Details::kWithout, [&](const Job& job) {
    if (job.version && job.base_version) started.push_back(job);
    return true;
  });
  for (const Job& job : started) {
    try {
      reserve_.for_record([&] { settle_found(job); });
    } catch (const std::exception& error) {  // it is resumed, and ends again
      job_log(job.id, job.spec.model).error("its result cannot be recorded: {}", error.what());
    }
  }
}

void Scheduler::settle_found(const Job& job) {
  auto result = finished_result(layout_, job.id, job.spec.model, *job.version);
  if (!result) return;
  add_energy(*result, layout_.job_energy(job.id));
  settle_result(job, *result);
  const Job settled = jobs_.get(job.id);
  if (!is_finished(settled.state)) return;
  job_log(job.id, job.spec.model).info("had finished before the daemon was started again");
  folder_.settle(settled);
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
      folder_.drop_work(job);
    }
  }
  if (!later) return done();
  when_dropped_.push_back(std::move(done));
}

void Scheduler::bases_changed() {
  wake();
  if (!runner_ || runner_->is_stopping() || jobs_.get(runner_->job()).base_version) return;
  stop_reason_ = kOtherBase;
  runner_->stop(grace());
}

void Scheduler::wait_for_room(const Job& job, const std::string& why) {
  jobs_.pause(job.id, "waits for room on the disk: " + why);
  short_of_room_.insert(job.id);
  hold_.again(QueueHold::Cause::kRoom,
              "job " + std::to_string(job.id) + " found no room on the disk: " + why,
              {config_.worker.backoff_seconds, kLongestWaitForRoomSeconds});
}

void Scheduler::died(const Job& job, const std::string& why) {
  const int failures = job.failures + 1;
  if (failures >= config_.worker.attempts) {
    return jobs_.end(job.id, JobState::kFailed,
                     why + "; given up after " + std::to_string(failures) + " attempts");
  }
  const auto backoff = milliseconds(backoff_seconds(failures));
  jobs_.retry(job.id, why, world_.now_milliseconds() + backoff.count());
  retry_at_[job.id] = world_.steady_milliseconds() + backoff.count();
  loop_.after(backoff, [this] { wake(); });
}

// Before the attempt after so many failures.
double Scheduler::backoff_seconds(int failures) const {
  const double doubled = config_.worker.backoff_seconds * std::pow(2, std::max(failures - 1, 0));
  return std::min(doubled, kLongestBackoffSeconds);
}

void Scheduler::cancel(std::int64_t job) {
  const Job found = jobs_.get(job);
  if (is_finished(found.state)) {
    throw Error(ErrorCode::kFailedPrecondition,
                "job " + std::to_string(job) + " is " + to_string(found.state) + " already");
  }
  if (runner_ && runner_->job() == job) {
    reserve_.for_record([&] { jobs_.set_cancelling(job); });
    runner_->stop(grace());
    return;
  }
  reserve_.for_deletion([&] {
    jobs_.end(job, JobState::kCancelled, "cancelled");
    folder_.settle(jobs_.get(job));
  });
  if (ended_ && ended_->first == job) ended_.reset();  // it need not be recorded any more
  retry_at_.erase(job);
  short_of_room_.erase(job);
  listener_.changed(job);
}

void Scheduler::retry(std::int64_t job) {
  const Job found = jobs_.get(job);
  if (found.state != JobState::kFailed && found.state != JobState::kCancelled) {
    throw Error(ErrorCode::kFailedPrecondition,
                "job " + std::to_string(job) + " is " + to_string(found.state) +
                    "; only one that failed or was cancelled is tried again");
  }
  jobs_.queue_again(job);
  listener_.changed(job);
  wake();
}

std::optional<Scheduler::Cpus> Scheduler::cpus() const {
  if (!runner_) return std::nullopt;
  return Cpus{runner_->cpus(), usable_cpus()};
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

std::optional<QueueHold::Told> Scheduler::held() const {
  if (runner_) return std::nullopt;  // it is being tried
  return hold_.told();
}

Job Scheduler::as_it_is(Job job) const {
  if (job.state != JobState::kRunning || running() == job.id) return job;
  job.state = JobState::kQueued;
  job.message = "its worker is gone; that is recorded as soon as the disk allows it";
  return job;
}

Json Scheduler::progress(std::int64_t job) const {
  return runner_ && runner_->job() == job ? progress_ : Json(nullptr);
}

std::chrono::milliseconds Scheduler::grace() const {
  return milliseconds(config_.worker.stop_seconds);
}

}  // namespace moil::daemon
