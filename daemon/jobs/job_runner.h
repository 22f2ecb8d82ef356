// One job in one worker process: writes its job file, starts the worker, keeps what it reports and
// says how it ended. What that means for the queue is the scheduler's to decide. A job whose result
// is there is done, however its worker ended.
//
// Loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/jobs/job_energy.h"
#include "daemon/log/job_log.h"
#include "daemon/process/worker_process.h"
#include "daemon/workers/worker_command.h"

namespace moil::daemon {

struct Outcome {
  enum class Kind {
    kResult,   // `result` holds it
    kStopped,  // as asked, with a checkpoint or before it could write one
    kRefused,  // the job cannot succeed: trying again is no use
    kNoRoom,   // the disk was full: to be resumed when there is room
    kNoStart,  // the program did not come up (a library of its own was missing, say)
    kDied,     // anything else
  };
  Kind kind = Kind::kDied;
  Json result;
  std::string message;
};

const char* name_of(Outcome::Kind kind);  // "result", "stopped", "refused", "no-room", ...

class JobRunner {
 public:
  struct Callbacks {
    std::function<void(const Json& event)> progress;  // latest position; may be many
    std::function<void(const Json& event)> event;     // stage, curve, note: worth keeping
    std::function<void(std::vector<data::SampleLikeness>)> likenesses;
    std::function<void(std::vector<data::Digest>)> uses;
    std::function<void(const Outcome&)> ended;  // last; may destroy the runner
  };

  // Throws if the worker cannot be started.
  JobRunner(EventLoop& loop, const WorkerCommand& command, const StateLayout& layout,
            const World& world, const JobFile& job, Callbacks callbacks);

  std::int64_t job() const { return job_; }
  void stop(std::chrono::milliseconds grace);
  bool is_stopping() const { return stopping_; }
  int cpus() const { return cpus_; }  // that the worker may use
  bool use_cpus(int count);           // false if that cannot be had

 private:
  void on_line(const std::string& line);
  void on_exit(const ProcessExit& exit);
  void on_progress(const Json& event);
  void on_likenesses(const Json& event) const;
  void on_uses(const Json& event);
  Outcome outcome(const ProcessExit& exit) const;
  std::optional<Json> result() const;
  void mark_crashed() const;
  void keep(const Json& event) const;
  WorkerProcess::OnLine error_lines() const;
  JobLog log(const std::string& event = "") const;

  const StateLayout layout_;
  std::int64_t job_;
  const std::string model_;
  const std::int64_t version_;
  Callbacks callbacks_;
  std::string stage_;
  std::optional<Json> error_;
  std::vector<data::Digest> uses_;  // of which more will be told
  bool heard_ = false;              // it wrote something
  bool stopping_ = false;
  int cpus_;
  const std::optional<std::int64_t> killed_before_;  // for want of memory, on this device
  std::unique_ptr<WorkerProcess> process_;
  std::optional<JobEnergy> energy_;
};

}  // namespace moil::daemon
