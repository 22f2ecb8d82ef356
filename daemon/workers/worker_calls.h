// Workers that are asked one thing. Such a worker writes its answer, of any length up to
// kMostReplyBytes, to a file without a name that it is given (worker_protocol.h). How many run at
// once is the askers' to see to (user_turns.h). Loop thread only.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "daemon/json/parse.h"
#include "daemon/loop/background.h"
#include "daemon/process/worker_process.h"
#include "daemon/rpc/method.h"

namespace moil::daemon {

inline constexpr std::size_t kMostReplyBytes = std::size_t{16} << 20;

class WorkerCalls {
 public:
  struct Answer {
    std::function<void(const Json& result)> result;
    std::function<void(std::exception_ptr)> error;  // also what `result` throws
    std::optional<Responder> whose =
        {};  // the request that it is for: given up, the worker is killed
    std::function<void(const Json& event)> progress = {};  // how far it is, if it says so
  };

  // Replies are read and parsed in the background. All outlive it.
  WorkerCalls(EventLoop& loop, Background& background);
  ~WorkerCalls();  // kills; nobody is answered

  // Calls one of `answer` when the worker is done; throws, and calls neither, if it cannot be
  // started: also if too many of its user's were killed and are still there, for a disk holds
  // them (kResourceExhausted). The descriptors that it inherits must be open until then: let
  // `answer` own them.
  std::uint64_t start(const ProcessOptions& process, Answer answer);
  // Nothing if it has ended. It is answered when the process is gone, which a disk that hangs
  // may put off.
  void kill(std::uint64_t call);

 private:
  struct Running;
  using RunningPtr = std::shared_ptr<Running>;

  void check_room(uid_t user) const;
  static void on_line(Running& running, const std::string& line);
  void ended(std::uint64_t call, const ProcessExit& exit);
  void read_reply(const RunningPtr& running);

  EventLoop& loop_;
  Background& background_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, RunningPtr> running_;
  std::shared_ptr<WorkerCalls*> self_;  // null once this is gone
};

}  // namespace moil::daemon
