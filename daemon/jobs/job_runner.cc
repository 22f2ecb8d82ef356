#include "daemon/jobs/job_runner.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/files/unflushed.h"
#include "daemon/json/parse.h"
#include "daemon/log/journal.h"
#include "daemon/process/cpu_limit.h"
#include "daemon/spec/job_result.h"
#include "daemon/spec/worker_protocol.h"

namespace moil::daemon {
namespace {

// With which a loader that misses a library ends a program, and a shell one that it cannot run.
constexpr int kLeastNotStarted = 126, kMostNotStarted = 127;

// A later attempt reads what the first one was given; the worker flushes it before it works.
void write_job_file(const StateLayout& layout, const JobFile& job) {
  make_private_folder_unflushed(layout.jobs());
  make_private_folder_unflushed(layout.job(job.id));
  if (std::filesystem::exists(layout.job_file(job.id))) return;
  write_unflushed(layout.job_file(job.id), to_json(job).dump(2) + "\n");
}

// How a program ends that met what it could not expect, as a library does in a damaged file.
bool is_crash(const ProcessExit& exit) {
  constexpr std::array kCrashes = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
  return exit.signal && std::ranges::find(kCrashes, *exit.signal) != kCrashes.end();
}

// How many processes the kernel has killed because memory ran out; empty if it does not count them.
std::optional<std::int64_t> killed_for_memory() {
  std::ifstream in("/proc/vmstat");
  std::string name;
  for (std::int64_t count = 0; in >> name >> count;) {
    if (name == "oom_kill") return count;
  }
  return std::nullopt;
}

std::string text_member(const Json& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

// What an event worth keeping says, for the journal.
std::string sentence_of(const Json& event) {
  const std::string kind = text_member(event, "event");
  if (kind == "stage") return "stage " + text_member(event, "stage");
  if (kind == "note") return text_member(event, "message");
  std::string text = "epoch " + event.value("epoch", Json(0)).dump();
  for (const char* figure : {"loss", "global", "local"}) {
    const auto it = event.find(figure);
    if (it == event.end() || !it->is_number()) continue;
    text += std::string(", ") + figure + fmt::format(" {:.4g}", it->get<double>());
  }
  return text;
}

}  // namespace

const char* name_of(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::kResult:
      return "result";
    case Outcome::Kind::kStopped:
      return "stopped";
    case Outcome::Kind::kRefused:
      return "refused";
    case Outcome::Kind::kNoRoom:
      return "no-room";
    case Outcome::Kind::kNoStart:
      return "no-start";
    case Outcome::Kind::kDied:
      return "died";
  }
  return "";
}

JobRunner::JobRunner(EventLoop& loop, const WorkerCommand& command, const StateLayout& layout,
                     const World& world, const JobFile& job, Callbacks callbacks)
    : layout_(layout),
      job_(job.id),
      model_(job.spec.model),
      version_(job.version),
      callbacks_(std::move(callbacks)),
      cpus_(usable_cpus()),
      killed_before_(killed_for_memory()) {
  write_job_file(layout, job);
  process_ = std::make_unique<WorkerProcess>(
      loop, command.run(job), [this](const std::string& line) { on_line(line); },
      [this](const ProcessExit& exit) { on_exit(exit); }, error_lines());
  energy_.emplace(loop, world, layout.job_energy(job.id));
  log().info("worker {} started", process_->pid());
}

// What it and its libraries write to stderr: in the journal with the job's fields; else it goes
// where ours does.
WorkerProcess::OnLine JobRunner::error_lines() const {
  if (!logs_to_journal()) return {};
  return [this](const std::string& line) { log().warn("worker: {}", line); };
}

JobLog JobRunner::log(const std::string& event) const {
  return job_log(job_, model_, stage_, event);
}

void JobRunner::keep(const Json& event) const {
  if (logs_to_journal()) log(text_member(event, "event")).info("{}", sentence_of(event));
  callbacks_.event(event);
}

bool JobRunner::use_cpus(int count) {
  if (!limit_cpus(process_->pid(), count)) return false;
  cpus_ = count;
  return true;
}

void JobRunner::stop(std::chrono::milliseconds grace) {
  stopping_ = true;
  process_->stop(grace);
}

void JobRunner::on_line(const std::string& line) {
  heard_ = true;
  Json event;
  try {
    event = parse_json(line, kMostNesting);
  } catch (const Error&) {
  }
  const std::string kind = event.is_object() ? text_member(event, "event") : "";
  if (kind == "progress") return on_progress(event);
  if (kind == "curve" || kind == "note") return keep(event);
  if (kind == "likenesses") return on_likenesses(event);
  if (kind == "uses") return on_uses(event);
  if (kind == "result") return;  // found when the worker is gone
  if (kind == "error") {
    error_ = std::move(event);
    return;
  }
  log().warn("the worker wrote a line that is no event: {}", line.substr(0, 200));
}

void JobRunner::on_progress(const Json& event) {
  const std::string stage = text_member(event, "stage");
  if (stage != stage_) {
    stage_ = stage;
    keep({{"event", "stage"}, {"stage", stage}});
  }
  callbacks_.progress(event);
}

void JobRunner::on_likenesses(const Json& event) const {
  try {
    callbacks_.likenesses(likenesses_from_json(event));
  } catch (const Error& error) {
    log().warn("{}", error.what());
  }
}

void JobRunner::on_uses(const Json& event) {
  try {
    if (add_uses(event, uses_)) callbacks_.uses(std::exchange(uses_, {}));
  } catch (const Error& error) {
    log().warn("{}", error.what());
  }
}

void JobRunner::on_exit(const ProcessExit& exit) {
  log().info("worker {}", exit.text());
  energy_->end();
  if (is_crash(exit)) mark_crashed();
  const Outcome end = outcome(exit);
  const auto ended = std::move(callbacks_.ended);
  ended(end);  // `this` may be gone from here on
}

// For the next attempt, which will not trust what may have been to do with it: in which stage.
void JobRunner::mark_crashed() const {
  try {
    write_unflushed(layout_.job_crashed(job_), stage_.empty() ? to_string(Stage::kScenes) : stage_);
  } catch (const Error& error) {
    log().warn("{}", error.what());
  }
}

std::optional<Json> JobRunner::result() const {
  try {
    auto done = finished_result(layout_, job_, model_, version_);
    if (done) add_energy(*done, layout_.job_energy(job_));
    return done;
  } catch (const Error& error) {
    log().error("{}", error.what());
    return std::nullopt;
  }
}

Outcome JobRunner::outcome(const ProcessExit& exit) const {
  if (auto done = result()) return {Outcome::Kind::kResult, std::move(*done), ""};
  const std::string message = error_ ? text_member(*error_, "message") : "";
  if (error_ && is_final(text_member(*error_, "code"))) {
    return {Outcome::Kind::kRefused, nullptr, message};
  }
  if (exit.code == kExitNoRoom) return {Outcome::Kind::kNoRoom, nullptr, message};
  if (exit.code && *exit.code >= kLeastNotStarted && *exit.code <= kMostNotStarted && !heard_) {
    return {Outcome::Kind::kNoStart, nullptr, "the worker did not start: it " + exit.text()};
  }
  const bool ended_by_us = stopping_ && (exit.signal == SIGTERM || exit.signal == SIGKILL);
  if (exit.code == kExitCheckpointed || ended_by_us) return {Outcome::Kind::kStopped, nullptr, ""};
  std::string why = "the worker " + exit.text();
  if (exit.code == kExitDone) why += " without a result";
  if (!stage_.empty()) why += " in stage " + stage_;
  if (!message.empty()) why += ": " + message;
  if (exit.signal == SIGKILL && killed_before_ < killed_for_memory())
    why += ", for memory had run out: a smaller memory.budget_bytes makes the job need less";
  return {Outcome::Kind::kDied, nullptr, why};
}

}  // namespace moil::daemon
