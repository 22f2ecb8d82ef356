#include "daemon/workers/job_planner.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/files/unflushed.h"
#include "daemon/log/log.h"
#include "daemon/spec/processor_use.h"

namespace moil::daemon {
namespace {

// A file that is gone when nobody needs it any more.
class PassingFile {
 public:
  PassingFile(std::filesystem::path path, const std::string& text) : path_(std::move(path)) {
    write_unflushed(path_, text);
  }
  ~PassingFile() { remove(); }
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;

  void remove() const {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A worker that does not answer is waited for no longer than a client would.
constexpr std::chrono::seconds kPatience{30};

// Nothing if it does not say that the job is wrong: a worker that cannot start or was killed
// tells nothing of the night.
std::exception_ptr refusal_of(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const Error& e) {
    if (is_final(std::string(to_string(e.code())))) return error;
    log_warn("a job is queued unchecked: {}", e.what());
  } catch (const std::exception& e) {
    log_warn("a job is queued unchecked: {}", e.what());
  }
  return nullptr;
}

// The worker knows the description alone, the client what it sent.
std::exception_ptr as_sent(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ValidationError& e) {
    return std::make_exception_ptr(e.within("the job description", "/job"));
  } catch (...) {
    return error;
  }
}

}  // namespace

JobPlanner::JobPlanner(EventLoop& loop, WorkerCalls& calls, const WorkerCommand& command,
                       const StateLayout& layout, const Config& config, const ModelStore& models)
    : loop_(loop),
      calls_(calls),
      command_(command),
      layout_(layout),
      config_(config),
      models_(models) {}

JobPlanner::~JobPlanner() {
  for (const auto& [number, check] : checks_) loop_.cancel(check.timer);
}

std::uint64_t JobPlanner::call(const JobSpec& spec, const std::vector<std::string>& options,
                               WorkerCalls::Answer answer) {
  const auto active = models_.active(spec.model);
  if (!active) throw Error(ErrorCode::kNotFound, "there is no active model \"" + spec.model + "\"");
  JobFile file;
  file.base_version = active->version;
  file.version = file.base_version + 1;
  file.threads = spec.threads.value_or(command_.default_threads());
  file.cache_quota_bytes = config_.cache.quota_bytes;
  file.leave_free_bytes = config_.disk.leave_free_bytes;
  file.spec = spec;
  use_processors(file.spec, config_.worker.processors);
  make_private_folder_unflushed(layout_.jobs());
  const auto path = layout_.plan(::getpid(), next_++);
  const auto document = std::make_shared<const PassingFile>(path, to_json(file).dump(2) + "\n");
  // Removed before the reply: who has it may look into the state folder.
  WorkerCalls::Answer passing;
  passing.whose = answer.whose;
  passing.progress = answer.progress;
  passing.result = [answer, document](const Json& result) {
    document->remove();
    answer.result(result);
  };
  passing.error = [answer, document](std::exception_ptr error) {
    document->remove();
    answer.error(as_sent(error));
  };
  return calls_.start(command_.plan(document->path(), file.threads, options), std::move(passing));
}

void JobPlanner::start(const JobSpec& spec, const std::vector<std::string>& options,
                       const Responder& responder, Progress progress) {
  WorkerCalls::Answer answer;
  answer.result = [responder](const Json& result) { responder.result(result); };
  answer.error = [responder](std::exception_ptr error) { responder.error(rpc_error(error)); };
  answer.whose = responder;
  answer.progress = std::move(progress);
  (void)call(spec, options, std::move(answer));
}

void JobPlanner::check(const JobSpec& spec, const Responder& whose, Checked done) {
  const std::uint64_t check = next_check_++;
  checks_.emplace(check, Check{std::move(done), 0});
  WorkerCalls::Answer answer;
  answer.result = [this, check](const Json&) { checked(check, nullptr); };
  answer.error = [this, check](std::exception_ptr error) { checked(check, error); };
  answer.whose = whose;
  std::function<void()> give_up;
  std::chrono::milliseconds patience = kPatience;
  try {
    const std::uint64_t worker = call(spec, {"--check"}, std::move(answer));
    give_up = [this, check, worker] {
      checked(check, std::make_exception_ptr(
                         Error(ErrorCode::kInternal, "no worker could say whether it can run")));
      calls_.kill(worker);
    };
  } catch (...) {
    patience = {};
    give_up = [this, check, error = std::current_exception()] { checked(check, error); };
  }
  checks_.at(check).timer = loop_.after(patience, std::move(give_up));
}

// An answer that comes too late is of a check that is over.
void JobPlanner::checked(std::uint64_t check, const std::exception_ptr& error) {
  const auto found = checks_.extract(check);
  if (found.empty()) return;
  loop_.cancel(found.mapped().timer);
  found.mapped().done(refusal_of(error));
}

}  // namespace moil::daemon
