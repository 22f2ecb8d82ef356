#include "daemon/backup/pace.h"

#include <algorithm>

#include "base/seconds.h"

namespace moil::backup {
namespace {

constexpr std::chrono::milliseconds kBetween{250};
constexpr double kSteady = 1;  // seconds, before which nothing is foretold

}  // namespace

Pace::Pace(std::uint64_t total, Tell tell) : total_(total), tell_(std::move(tell)) {}

void Pace::add(std::uint64_t bytes) {
  done_ = std::min(total_, done_ + bytes);
  const auto now = Clock::now();
  if (!tell_ || now - told_ < kBetween) return;
  told_ = now;
  const double seconds = seconds_since(begin_);
  std::optional<double> left;
  if (seconds >= kSteady && done_ > 0)
    left = seconds * static_cast<double>(total_ - done_) / static_cast<double>(done_);
  tell_(done_, total_, left);
}

}  // namespace moil::backup
