#include "daemon/jobs/queue_hold.h"

#include <algorithm>
#include <cmath>

namespace moil::daemon {
namespace {

// Less than that comes and goes with every program's files.
constexpr std::uint64_t kMoreRoom = 4 << 20;

}  // namespace

void QueueHold::again(Cause cause, const std::string& why, const Pace& pace) {
  if (!held_) {
    held_ = Held{};
    held_->since = world_.now_milliseconds();
    held_->since_steady = world_.steady_milliseconds();
  }
  held_->why = why;
  held_->cause = cause;
  held_->free = world_.free_bytes(disk_);
  const double wait = std::min(pace.first_seconds * std::pow(2, std::min(held_->tries++, 30)),
                               pace.longest_seconds);
  held_->retry_at = world_.steady_milliseconds() + std::llround(wait * 1000);
}

bool QueueHold::there_is_more_room() const {
  const auto free = world_.free_bytes(disk_);
  return held_->cause == Cause::kRoom && free && held_->free && *free >= *held_->free + kMoreRoom;
}

bool QueueHold::holds() const {
  return held_ && world_.steady_milliseconds() < held_->retry_at && !there_is_more_room();
}

std::optional<QueueHold::Told> QueueHold::told() const {
  if (!held_) return std::nullopt;
  const auto seconds = [](std::int64_t milliseconds) {
    return static_cast<double>(std::max<std::int64_t>(milliseconds, 0)) / 1000;
  };
  const std::int64_t now = world_.steady_milliseconds();
  return Told{held_->why, held_->since, seconds(now - held_->since_steady),
              seconds(held_->retry_at - now)};
}

}  // namespace moil::daemon
