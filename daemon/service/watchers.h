// Who watches which job. Watchers get every stored event once, in order, as notifications
// "job.event"; positions in between (progress) are merged while a client is slow to read, so that
// it always gets the newest. Loop thread only.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "daemon/rpc/connection.h"
#include "daemon/state/job_store.h"

namespace moil::daemon {

class Watchers {
 public:
  explicit Watchers(const JobStore& jobs) : jobs_(jobs) {}

  // The events after `since`; whatever comes later is pushed, unless the job is finished.
  Json begin(const std::weak_ptr<Connection>& client, const Job& job, std::int64_t since);
  void changed(std::int64_t job);
  void progress(std::int64_t job, const Json& event);
  void drained(const std::shared_ptr<Connection>& client);
  void closed(const std::shared_ptr<Connection>& client);

 private:
  struct Watch {
    std::weak_ptr<Connection> client;
    std::int64_t job = 0;
    std::int64_t seen = 0;  // the last event sent
    Json waiting;           // a position not sent yet
  };

  const JobStore& jobs_;
  std::list<Watch> watches_;
};

}  // namespace moil::daemon
