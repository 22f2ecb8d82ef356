// Backups of the state, and their return (docs/backup-format.md): workers write and read them, this
// gives them a place and decides when a backup is the state. Loop thread only.
#pragma once

#include <functional>
#include <memory>

#include "daemon/loop/background.h"
#include "daemon/rpc/method.h"
#include "daemon/spec/state_layout.h"
#include "daemon/workers/worker_calls.h"
#include "daemon/workers/worker_command.h"

namespace moil::daemon {

class Backups {
 public:
  // `restored` is called when a backup lies ready (state/restored_state.h), and whoever asked for
  // it was answered. All outlive it.
  Backups(WorkerCalls& calls, const WorkerCommand& command, const StateLayout& layout,
          Background& background, std::function<void()> restored);

  using Progress = std::function<void(const Json& event)>;  // of the worker; may be empty
  using File = std::shared_ptr<const UniqueFd>;             // the backup
  // Answer when that is done; what is not done leaves nothing.
  void make(const File& file, const Responder& responder, Progress progress);
  // kFailedPrecondition if one is read already.
  void restore(const File& file, const Responder& responder, Progress progress);

 private:
  void read(const Json& told, const Responder& responder);
  void failed(const std::exception_ptr& error, const Responder& responder);

  WorkerCalls& calls_;
  const WorkerCommand& command_;
  const StateLayout& layout_;
  Background& background_;
  const std::function<void()> restored_;
  std::int64_t next_ = 1;
  bool is_reading_ = false;
};

}  // namespace moil::daemon
