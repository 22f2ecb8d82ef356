// Whether samples can be decoded, before they are kept: a worker tries, for moild decodes nothing.
// Such workers are soon done, so that they have turns of their own and wait for no long question.
// Loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "daemon/loop/event_loop.h"
#include "daemon/rpc/method.h"
#include "daemon/rpc/user_turns.h"
#include "daemon/workers/worker_calls.h"
#include "daemon/workers/worker_command.h"

namespace moil::daemon {

class Trials {
 public:
  // All outlive it.
  Trials(EventLoop& loop, WorkerCalls& calls, const WorkerCommand& command)
      : loop_(loop), calls_(calls), command_(command), turns_(loop) {}
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  // What the worker tells of each sample (moil-worker try), or an "error" in its place if the
  // worker dies of it, or does not end.
  using Said = std::function<void(const std::vector<Json>&)>;
  // Calls `said`; not if the request is answered before, as it is if no worker can be started.
  // descriptors: of the samples' files, kFilesAtOnce at most, which `said` holds open; none: nobody
  // is asked.
  void start(const std::vector<int>& descriptors, const Responder& whose, Said said);

 private:
  class Trial;

  EventLoop& loop_;
  WorkerCalls& calls_;
  const WorkerCommand& command_;
  UserTurns turns_;
};

}  // namespace moil::daemon
