// system.doctor: looks at all that a night needs and says what is wrong and what to do. A worker
// measures the machine, a thread of its own the disk, the background the cache. Loop thread only.
#pragma once

#include "daemon/jobs/night_view.h"
#include "daemon/loop/background.h"
#include "daemon/loop/outside_calls.h"
#include "daemon/rpc/server.h"
#include "daemon/schedule/started.h"
#include "daemon/workers/worker_calls.h"
#include "daemon/workers/worker_command.h"

namespace moil::daemon {

class Doctor {
 public:
  // All outlive it and its work.
  struct Surroundings {
    const NightView& nights;
    const StateLayout& layout;
    const WorkerCommand& command;
    WorkerCalls& calls;
    OutsideCalls& outside;
    Background& background;
    const Server& server;
    const Started& started;
  };

  explicit Doctor(const Surroundings& around) : s_(around) {}

  // Answers with what docs/protocol.md says of system.doctor, after some seconds.
  void examine(const Responder& responder) const;

 private:
  class Examination;
  const Surroundings s_;
};

}  // namespace moil::daemon
