// Workers that are asked one thing. Such a worker writes its answer, of any length up to
// kMostReplyBytes, to a file without a name that it is given (worker_protocol.h). Four run
// at once, the next ones wait. Loop thread only.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <utility>

#include "daemon/json/parse.h"
#include "daemon/process/worker_process.h"

namespace moil::daemon {

inline constexpr std::size_t kMostReplyBytes = std::size_t{16} << 20;

class WorkerCalls {
 public:
  struct Answer {
    std::function<void(const Json& result)> result;
    std::function<void(std::exception_ptr)> error;  // also what `result` throws
  };

  explicit WorkerCalls(EventLoop& loop);
  ~WorkerCalls();  // kills; nobody is answered

  // Calls one of `answer` when the worker is done, or could not be started after it had waited.
  // Throws, and calls neither, where it cannot be started at once. The descriptors that it inherits
  // must be open until then: let `answer` own them.
  void start(const ProcessOptions& process, Answer answer);

 private:
  struct Running;

  void begin(const ProcessOptions& process, Answer answer);
  void begin_waiting();
  static void on_line(Running& running, const std::string& line);
  void ended(Running& running, const ProcessExit& exit);

  EventLoop& loop_;
  std::list<std::unique_ptr<Running>> running_;
  std::deque<std::pair<ProcessOptions, Answer>> waiting_;
};

}  // namespace moil::daemon
