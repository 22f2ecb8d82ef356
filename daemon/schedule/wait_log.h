// What jobs have waited for this night, and how long: so that a device that never becomes idle, or
// never cool, says so instead of letting a job wait for ever. A plain value type.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "daemon/schedule/conditions.h"

namespace moil::daemon {

struct Waited {
  std::int64_t milliseconds = 0;
  // Of what was read meanwhile, what came nearest to what is allowed.
  std::optional<double> nearest = {}, allowed = {};
};

class WaitLog {
 public:
  // To be told at each look at which a job waited: how the device was judged then. What has gone by
  // since the look before is put down to what was in the way then, at most `most` (a device that
  // slept in between did not wait). A window that opens begins a new night.
  void look(const Verdict& verdict, std::int64_t steady_milliseconds, std::int64_t most);
  // Nights that have gone by, since the last call of clear(), without the job getting a start.
  int nights() const { return nights_; }
  // A job started, or none waits.
  void clear();

  const std::map<Obstacle, Waited>& waited() const { return waited_; }

 private:
  std::map<Obstacle, Waited> waited_;
  std::optional<Obstacle> before_;
  std::int64_t looked_at_ = 0;
  int nights_ = 0;
};

}  // namespace moil::daemon
