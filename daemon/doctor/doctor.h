// system.doctor: looks at all that a night needs and says what is wrong and what to do. A worker
// measures the machine, a thread of its own the disk, the background the cache. Loop thread only.
#pragma once

#include "daemon/jobs/night_view.h"
#include "daemon/loop/background.h"
#include "daemon/loop/outside_calls.h"
#include "daemon/metrics/counts.h"
#include "daemon/rpc/server.h"
#include "daemon/workers/worker_calls.h"
#include "daemon/workers/worker_command.h"

namespace moil::daemon {

// What is looked at; outlives the examination.
struct Examined {
  const NightView& nights;
  const StateLayout& layout;
  const WorkerCommand& command;
  WorkerCalls& calls;
  OutsideCalls& outside;
  Background& background;
  const Server& server;
  const Counts& counts;
};

// Answers with what docs/protocol.md says of system.doctor, after some seconds.
void examine(const Examined& examined, const Responder& responder);

}  // namespace moil::daemon
