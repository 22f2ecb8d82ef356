// Queued jobs that are passed over for the time being: one whose worker died, until its next
// attempt (backoff, doubling); one that ran out of room, which lets others go first, for these may
// need less. Waits are measured by the steady clock. Loop thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "daemon/config/config.h"
#include "daemon/loop/event_loop.h"
#include "daemon/schedule/world.h"
#include "daemon/state/job_store.h"

namespace moil::daemon {

class JobDelays {
 public:
  // Begins with what an earlier run of the daemon let wait. wake: called when a wait is over.
  JobDelays(EventLoop& loop, const Config& config, const World& world, const JobStore& jobs,
            std::function<void()> wake);

  // Before the attempt after so many failures.
  [[nodiscard]] std::chrono::milliseconds backoff(int failures) const;
  void wait(std::int64_t job, std::chrono::milliseconds time);
  void let_others_first(std::int64_t job) { short_of_room_.insert(job); }
  // It begins, or ended.
  void forget(std::int64_t job);
  // The queued job whose turn it is.
  [[nodiscard]] std::optional<Job> next(bool window_open);

 private:
  EventLoop& loop_;
  const Config& config_;
  const World& world_;
  const JobStore& jobs_;
  const std::function<void()> wake_;
  std::map<std::int64_t, std::int64_t> retry_at_;  // of jobs whose worker died; steady clock
  std::set<std::int64_t> short_of_room_;
};

}  // namespace moil::daemon
