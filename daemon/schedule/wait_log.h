// What jobs have waited for this night and in the nights before, and how long: so that a device
// that never becomes idle, or never cool, says so instead of letting a job wait for ever. A plain
// value type.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "daemon/schedule/conditions.h"

namespace moil::daemon {

struct Waited {
  std::int64_t milliseconds = 0;
  // What was read meanwhile that came nearest to what is allowed.
  std::optional<double> nearest = {}, allowed = {};
  std::string says = {};  // the latest of what was said of it
};

// The nights that have gone by without a job that waited in them getting a start.
struct LostNights {
  int count = 0;
  std::map<Obstacle, std::int64_t> milliseconds = {};  // that jobs waited in them
  // What they waited for longest; kNone if nothing was seen.
  Obstacle cause() const;
  bool operator==(const LostNights&) const = default;
};

class WaitLog {
 public:
  // lost: what was known of the nights before, by an earlier run of the daemon.
  explicit WaitLog(LostNights lost = {}) : lost_(std::move(lost)) {}
  // To be told at each look at which a job waited: how the device was judged then. What has gone by
  // since the look before is put down to what was in the way then, at most `most` (a device that
  // slept in between did not wait). A window that opens begins a new night.
  void look(const Verdict& verdict, std::int64_t steady_milliseconds, std::int64_t most);
  // Since the last call of clear().
  const LostNights& lost() const { return lost_; }
  // A job started, or none waits.
  void clear();

  const std::map<Obstacle, Waited>& waited() const { return waited_; }

 private:
  std::map<Obstacle, Waited> waited_;
  std::optional<Obstacle> before_;
  std::int64_t looked_at_ = 0;
  LostNights lost_;
};

}  // namespace moil::daemon
