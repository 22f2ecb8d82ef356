// Workers that are asked one thing: the last line of such a worker is its answer. Loop thread only.
#pragma once

#include <exception>
#include <functional>
#include <list>
#include <memory>

#include "daemon/json/parse.h"
#include "daemon/process/worker_process.h"

namespace moil::daemon {

class WorkerCalls {
 public:
  struct Answer {
    std::function<void(const Json& result)> result;
    std::function<void(std::exception_ptr)> error;  // also what `result` throws
  };

  explicit WorkerCalls(EventLoop& loop);
  ~WorkerCalls();  // kills; nobody is answered

  // Calls one of `answer` when the worker is done. Throws, and calls neither, where too many run
  // already (kResourceExhausted) or it cannot be started.
  void start(const ProcessOptions& process, Answer answer);

 private:
  struct Running;

  static void on_line(Running& running, const std::string& line);
  void ended(Running& running, const ProcessExit& exit);

  EventLoop& loop_;
  std::list<std::unique_ptr<Running>> running_;
};

}  // namespace moil::daemon
