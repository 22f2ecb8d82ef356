#include "daemon/jobs/scheduler.h"

#include <cmath>

#include "base/durations.h"
#include "daemon/log/job_log.h"
#include "daemon/log/log.h"
#include "daemon/process/cpu_limit.h"
#include "daemon/spec/processor_use.h"
#include "daemon/state/lost_nights.h"

namespace moil::daemon {

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
      reserve_(reserve),
      listener_(std::move(listener)),
      folder_(layout_, jobs, flusher),
      hold_(world, layout.root()),
      delays_(loop, config, world, jobs, [this] { wake(); }),
      settlement_({config, world, layout_, jobs, labels, reserve, folder_, hold_, delays_,
                   listener_.changed, listener_.finished}),
      waits_(read_lost_nights(layout.lost_nights())) {
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
  const auto job = delays_.next(now.open);
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

// Once a night. If it fails, a restart begins to count anew, and that is all.
void Scheduler::keep_lost_nights(const LostNights& before) {
  if (waits_.lost() == before) return;
  try {
    write_lost_nights(layout_.lost_nights(), waits_.lost());
  } catch (const std::exception& error) {
    log_warn("how many nights went by without a start cannot be noted: {}", error.what());
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
  delays_.forget(id);
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
              {.first_seconds = config_.poll_seconds});
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
  settlement_.settle(ended_->first, ended_->second, stop_reason_);
  ended_.reset();
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
  delays_.forget(job);
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
