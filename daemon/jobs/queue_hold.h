// Why nothing is started for the time being although a job could be, and when that is tried again:
// for causes that lie in the device and pass (the worker's program is being replaced, no process
// is to be had, the disk is full), not in the job. Waits double from try to try. A plain value type
// on the clocks of its World.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "daemon/schedule/world.h"

namespace moil::daemon {

class QueueHold {
 public:
  enum class Cause {
    kStart,  // a worker could not be started
    kRoom,   // the disk was full; also goes on as soon as there is more room than then
  };
  struct Pace {
    double first_seconds = 5, longest_seconds = 300;
  };
  struct Told {
    std::string why;
    std::int64_t since = 0;    // milliseconds since 1970
    double seconds = 0;        // so long already
    double retry_seconds = 0;  // until the next try
  };

  // disk: where the room is looked at.
  QueueHold(const World& world, std::filesystem::path disk)
      : world_(world), disk_(std::move(disk)) {}

  // It failed, or failed again.
  void again(Cause cause, const std::string& why, const Pace& pace);
  void clear() { held_.reset(); }
  // Whether nothing may be tried yet.
  bool holds() const;
  // Empty if nothing is the matter.
  std::optional<Told> told() const;

 private:
  struct Held {
    std::string why;
    std::int64_t since = 0, since_steady = 0, retry_at = 0;
    int tries = 0;
    Cause cause = Cause::kStart;
    std::optional<std::uint64_t> free;  // when it failed last
  };
  bool there_is_more_room() const;

  const World& world_;
  std::filesystem::path disk_;
  std::optional<Held> held_;
};

}  // namespace moil::daemon
