#include "daemon/schedule/wait_log.h"

#include <algorithm>
#include <cmath>

namespace moil::daemon {
namespace {

void keep_nearest(Waited& waited, const Verdict& verdict) {
  waited.says = verdict.reason;
  if (!verdict.found) return;
  const bool nearer = !waited.nearest || std::abs(*verdict.found - *verdict.allowed) <
                                             std::abs(*waited.nearest - *verdict.allowed);
  if (nearer) waited.nearest = verdict.found;
  waited.allowed = verdict.allowed;
}

}  // namespace

Obstacle LostNights::cause() const {
  const auto longest =
      std::ranges::max_element(milliseconds, {}, [](const auto& waited) { return waited.second; });
  return longest == milliseconds.end() ? Obstacle::kNone : longest->first;
}

void WaitLog::look(const Verdict& verdict, std::int64_t steady_milliseconds, std::int64_t most) {
  const bool night_begins = before_ == Obstacle::kWindow && verdict.obstacle != Obstacle::kWindow;
  if (night_begins) waited_.clear();
  const bool night_ends = before_ && *before_ != Obstacle::kWindow &&
                          verdict.obstacle == Obstacle::kWindow && !waited_.empty();
  if (before_ && *before_ != Obstacle::kWindow && *before_ != Obstacle::kNone)
    waited_[*before_].milliseconds +=
        std::clamp<std::int64_t>(steady_milliseconds - looked_at_, 0, most);
  if (night_ends) {
    ++lost_.count;
    for (const auto& [obstacle, waited] : waited_)
      lost_.milliseconds[obstacle] += waited.milliseconds;
  }
  if (verdict.obstacle != Obstacle::kWindow && verdict.obstacle != Obstacle::kNone)
    keep_nearest(waited_[verdict.obstacle], verdict);
  before_ = verdict.obstacle;
  looked_at_ = steady_milliseconds;
}

void WaitLog::clear() {
  waited_.clear();
  before_.reset();
  lost_ = {};
}

}  // namespace moil::daemon
