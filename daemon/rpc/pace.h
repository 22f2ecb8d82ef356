// How fast one client's requests are taken: as they come for a while, then at an even rate. Nothing
// is refused; what comes too fast waits in the client's socket. Not thread-safe.
#pragma once

#include <chrono>

namespace moil::daemon {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  // If a client was quiet, its requests of a fifth of a second are taken at once.
  explicit Pace(double per_second, Clock::time_point now = Clock::now());

  // `requests` are taken, more than there is room for if they came together.
  void take(double requests, Clock::time_point now = Clock::now());
  // Until the next one may be taken; 0: now.
  std::chrono::milliseconds pause(Clock::time_point now = Clock::now()) const;

 private:
  double room_at(Clock::time_point now) const;

  double per_second_;
  double room_;  // requests that may be taken at `since_`; below 0 after too many
  Clock::time_point since_;
};

}  // namespace moil::daemon
