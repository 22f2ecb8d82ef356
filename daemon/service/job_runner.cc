#include "daemon/service/job_runner.h"

#include <signal.h>
#include <spdlog/spdlog.h>

#include "base/file.h"
#include "daemon/json/parse.h"
#include "datasets/labels/sample_files.h"

namespace moil::daemon {
namespace {

constexpr int kNesting = 64;
// With which a loader that misses a library ends a program, and a shell one that it cannot run.
constexpr int kLeastNotStarted = 126, kMostNotStarted = 127;

// A later attempt reads what the first one was given.
void write_job_file(const StateLayout& layout, const JobFile& job) {
  data::make_private_folder(layout.jobs());
  data::make_private_folder(layout.job(job.id));
  if (std::filesystem::exists(layout.job_file(job.id))) return;
  write_file_atomic(layout.job_file(job.id), to_json(job).dump(2) + "\n");
}

std::string text_member(const Json& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

}  // namespace

JobRunner::JobRunner(EventLoop& loop, const WorkerCommand& command, const StateLayout& layout,
                     const JobFile& job, Callbacks callbacks)
    : job_(job.id), callbacks_(std::move(callbacks)) {
  write_job_file(layout, job);
  process_ = std::make_unique<WorkerProcess>(
      loop, command.run(job), [this](const std::string& line) { on_line(line); },
      [this](const ProcessExit& exit) { on_exit(exit); });
  spdlog::info("job {}: worker {} started", job_, process_->pid());
}

void JobRunner::stop(std::chrono::milliseconds grace) {
  stopping_ = true;
  process_->stop(grace);
}

void JobRunner::on_line(const std::string& line) {
  heard_ = true;
  Json event;
  try {
    event = parse_json(line, kNesting);
  } catch (const Error&) {
  }
  const std::string kind = event.is_object() ? text_member(event, "event") : "";
  if (kind == "progress") return on_progress(event);
  if (kind == "curve" || kind == "note") return callbacks_.event(event);
  if (kind == "result" || kind == "error") {
    event.erase("event");
    (kind == "result" ? result_ : error_) = event;
    return;
  }
  spdlog::warn("job {}: the worker wrote a line that is no event: {}", job_, line.substr(0, 200));
}

void JobRunner::on_progress(const Json& event) {
  const std::string stage = text_member(event, "stage");
  if (stage != stage_) {
    stage_ = stage;
    callbacks_.event({{"event", "stage"}, {"stage", stage}});
  }
  callbacks_.progress(event);
}

void JobRunner::on_exit(const ProcessExit& exit) {
  spdlog::info("job {}: worker {}", job_, exit.text());
  const Outcome end = outcome(exit);
  const auto ended = std::move(callbacks_.ended);
  ended(end);  // `this` may be gone from here on
}

Outcome JobRunner::outcome(const ProcessExit& exit) const {
  if (result_ && exit.code == kExitDone) return {Outcome::Kind::kResult, *result_, ""};
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
  return {Outcome::Kind::kDied, nullptr, why};
}

}  // namespace moil::daemon
