// Who watches which job. Watchers get every stored event once, in order, as notifications
// "job.event", as fast as they read; positions in between (progress) are merged while a client is
// slow to read, so that it always gets the newest. An event is told when it survives a power cut.
// Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "daemon/rpc/connection.h"
#include "daemon/state/flusher.h"
#include "daemon/state/job_store.h"

namespace moil::daemon {

class Watchers {
 public:
  Watchers(const JobStore& jobs, Flusher& flusher) : jobs_(jobs), flusher_(flusher) {}

  // What was stored after the event `seen` and what comes later is pushed, until the job is
  // finished; after what is answered before.
  void begin(const std::shared_ptr<Connection>& client, std::int64_t job, std::int64_t seen);
  void changed(std::int64_t job);
  void progress(std::int64_t job, const Json& event);
  void drained(const std::shared_ptr<Connection>& client);
  void closed(const std::shared_ptr<Connection>& client);

 private:
  struct Watch {
    std::weak_ptr<Connection> client;
    std::int64_t job = 0;
    std::int64_t seen = 0;  // the last event sent
    std::int64_t kept = 0;  // the last one that may be
    Json waiting;           // a position not sent yet
    bool begun = false;     // what was answered before is on its way
    bool ends = false;      // the job is finished
  };

  void keep(std::int64_t job, std::int64_t newest, bool is_last);
  void push(Watch& watch, const std::shared_ptr<Connection>& client);
  void push_all(const std::function<bool(const Watch&)>& whose);

  const JobStore& jobs_;
  Flusher& flusher_;
  std::list<Watch> watches_;
};

}  // namespace moil::daemon
