#include "daemon/service/worker_calls.h"

#include <spdlog/spdlog.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/file.h"
#include "daemon/worker_protocol.h"

namespace moil::daemon {
namespace {

constexpr std::size_t kMostRunning = 4;

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
  std::unique_ptr<WorkerProcess> process;

  Json take_result(const ProcessExit& exit) {
    if (error.is_object()) {
      if (FieldErrors wrong = field_errors_from_json(error.value("errors", Json::array()));
          !wrong.empty())
        throw ValidationError("the request", std::move(wrong));
      throw Error(code_named(error.value("code", "")), error.value("message", "the worker failed"));
    }
    if (exit.code != kExitDone) throw Error(ErrorCode::kInternal, "the worker " + exit.text());
    const auto bytes = read_descriptor(reply.get(), kMostReplyBytes);
    Json result =
        parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, kMostNesting);
    if (!result.is_object())
      throw Error(ErrorCode::kInternal, "the worker's reply is " + describe(result));
    return result;
  }
};

WorkerCalls::WorkerCalls(EventLoop& loop) : loop_(loop) {}

WorkerCalls::~WorkerCalls() = default;

void WorkerCalls::start(const ProcessOptions& process, Answer answer) {
  if (running_.size() < kMostRunning) return begin(process, std::move(answer));
  waiting_.emplace_back(process, std::move(answer));
}

void WorkerCalls::begin_waiting() {
  while (!waiting_.empty() && running_.size() < kMostRunning) {
    const auto [process, answer] = std::move(waiting_.front());
    waiting_.pop_front();
    try {
      begin(process, answer);
    } catch (...) {
      answer.error(std::current_exception());
    }
  }
}

void WorkerCalls::begin(const ProcessOptions& process, Answer answer) {
  auto running = std::make_unique<Running>();
  running->answer = std::move(answer);
  running->reply = UniqueFd(::memfd_create("reply", MFD_CLOEXEC));
  if (!running->reply) throw system_error("cannot make a file for the worker's reply", errno);
  Running* const self = running.get();
  const auto line = [self](const std::string& text) { on_line(*self, text); };
  const auto exit = [this, self](const ProcessExit& how) { ended(*self, how); };
  running->process =
      std::make_unique<WorkerProcess>(loop_, with_reply(process, running->reply.get()), line, exit);
  running_.push_back(std::move(running));
}

void WorkerCalls::on_line(Running& running, const std::string& line) {
  try {
    Json event = parse_json(line, kMostNesting);
    const std::string kind = event.is_object() ? event.value("event", "") : "";
    if (kind == "error") running.error = std::move(event);
  } catch (const std::exception& error) {
    spdlog::warn("a worker wrote a line that is no event: {}", error.what());
  }
}

void WorkerCalls::ended(Running& running, const ProcessExit& exit) {
  const auto place =
      std::ranges::find_if(running_, [&](const auto& entry) { return entry.get() == &running; });
  const auto gone =
      std::move(*place);  // until the end of this function, also where an answer throws
  running_.erase(place);
  begin_waiting();
  try {
    gone->answer.result(gone->take_result(exit));
  } catch (...) {
    gone->answer.error(std::current_exception());
  }
}

}  // namespace moil::daemon
