#include "daemon/workers/worker_calls.h"

#include <sys/mman.h>

#include <cerrno>

#include "base/error.h"
#include "base/files/file.h"
#include "daemon/log/log.h"
#include "daemon/spec/worker_protocol.h"

namespace moil::daemon {
namespace {

// Workers that were killed and do not go, for a disk hangs: of one user, and of all together.
constexpr std::ptrdiff_t kMostAbandonedOfUser = 6, kMostAbandoned = 24;

ErrorCode code_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    if (to_string(code) == name) return code;
  }
  return ErrorCode::kInternal;
}

// Behind the program and its command, before options that some commands lack.
ProcessOptions with_reply(ProcessOptions process, int descriptor) {
  process.arguments.insert(process.arguments.begin() + 2, {"--reply", std::to_string(descriptor)});
  process.keep_open.push_back(descriptor);
  return process;
}

}  // namespace

struct WorkerCalls::Running {
  Answer answer;
  UniqueFd reply;
  Json error;
  bool is_abandoned = false;  // killed; nobody waits for it, nor is its place kept
  std::unique_ptr<WorkerProcess> process;

  bool is_abandoned_of(uid_t user) const {
    return is_abandoned && answer.whose && answer.whose->user() == user;
  }

  [[noreturn]] void throw_error() const {
    if (FieldErrors wrong = field_errors_from_json(error.value("errors", Json::array()));
        !wrong.empty())
      throw ValidationError("the request", std::move(wrong));
    throw Error(code_named(error.value("code", "")), error.value("message", "the worker failed"));
  }
  Json parsed_reply() const {
    const auto bytes = read_descriptor(reply.get(), kMostReplyBytes);
    Json result =
        parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, kMostNesting);
    if (!result.is_object())
      throw Error(ErrorCode::kInternal, "the worker's reply is " + describe(result));
    return result;
  }
  void tell(const Json& result) const {
    try {
      answer.result(result);
    } catch (...) {
      answer.error(std::current_exception());
    }
  }
};

WorkerCalls::WorkerCalls(EventLoop& loop, Background& background)
    : loop_(loop), background_(background), self_(std::make_shared<WorkerCalls*>(this)) {}

// All before one is waited for.
WorkerCalls::~WorkerCalls() {
  for (const auto& [call, running] : running_) running->process->kill();
}

std::uint64_t WorkerCalls::start(const ProcessOptions& process, Answer answer) {
  if (answer.whose) check_room(answer.whose->user());
  const std::uint64_t call = next_++;
  const auto running = std::make_shared<Running>();
  running->answer = std::move(answer);
  running->reply = UniqueFd(::memfd_create("reply", MFD_CLOEXEC));
  if (!running->reply) throw system_error("cannot make a file for the worker's reply", errno);
  Running* const self = running.get();
  const auto line = [self](const std::string& text) { on_line(*self, text); };
  const auto exit = [this, call](const ProcessExit& how) { ended(call, how); };
  running->process =
      std::make_unique<WorkerProcess>(loop_, with_reply(process, running->reply.get()), line, exit);
  running_.emplace(call, running);
  if (running->answer.whose) {
    running->answer.whose->on_stop([self = std::weak_ptr(self_), call] {
      if (const auto alive = self.lock()) (*alive)->kill(call);
    });
  }
  return call;
}

void WorkerCalls::check_room(uid_t user) const {
  std::ptrdiff_t all = 0, own = 0;
  for (const auto& [call, running] : running_) {
    all += running->is_abandoned ? 1 : 0;
    own += running->is_abandoned_of(user) ? 1 : 0;
  }
  if (own < kMostAbandonedOfUser && all < kMostAbandoned) return;
  throw Error(ErrorCode::kResourceExhausted,
              "too many workers that were ended do not go; a disk or network drive of this device "
              "hangs");
}

void WorkerCalls::kill(std::uint64_t call) {
  const auto found = running_.find(call);
  if (found == running_.end()) return;
  found->second->is_abandoned = true;
  found->second->process->kill();
}

void WorkerCalls::on_line(Running& running, const std::string& line) {
  try {
    Json event = parse_json(line, kMostNesting);
    const std::string kind = event.is_object() ? event.value("event", "") : "";
    if (kind == "error") running.error = std::move(event);
    const bool tells = kind == "progress" || kind == "suggestions" || kind == "heard";
    if (tells && running.answer.progress) running.answer.progress(event);
  } catch (const std::exception& error) {
    log_warn("a worker wrote a line that is no event: {}", error.what());
  }
}

void WorkerCalls::ended(std::uint64_t call, const ProcessExit& exit) {
  const RunningPtr gone = std::move(running_.extract(call).mapped());  // until the end
  try {
    if (gone->error.is_object()) gone->throw_error();
    if (exit.code != kExitDone) throw Error(ErrorCode::kInternal, "the worker " + exit.text());
    read_reply(gone);
  } catch (...) {
    gone->answer.error(std::current_exception());
  }
}

// It may be long.
void WorkerCalls::read_reply(const RunningPtr& running) {
  background_.submit([running]() -> Background::Done {
    try {
      const auto result = std::make_shared<const Json>(running->parsed_reply());
      return [running, result] { running->tell(*result); };
    } catch (...) {
      return [running, error = std::current_exception()] { running->answer.error(error); };
    }
  });
}

}  // namespace moil::daemon
