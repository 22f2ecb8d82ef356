#include "daemon/jobs/job_delays.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/durations.h"

namespace moil::daemon {
namespace {

constexpr double kLongestBackoffSeconds = 3600;

}  // namespace

// What an earlier run noted is by its clock, which may have been any. No wait is longer than a
// backoff can be.
JobDelays::JobDelays(EventLoop& loop, const Config& config, const World& world,
                     const JobStore& jobs, std::function<void()> wake)
    : loop_(loop), config_(config), world_(world), jobs_(jobs), wake_(std::move(wake)) {
  const std::int64_t now = world_.now_milliseconds();
  for (const Job& job : jobs_.delayed(now)) {
    const std::int64_t left = std::min(job.not_before - now, backoff(job.failures).count());
    retry_at_[job.id] = world_.steady_milliseconds() + left;
  }
}

std::chrono::milliseconds JobDelays::backoff(int failures) const {
  const double doubled = config_.worker.backoff_seconds * std::pow(2, std::max(failures - 1, 0));
  return milliseconds(std::min(doubled, kLongestBackoffSeconds));
}

void JobDelays::wait(std::int64_t job, std::chrono::milliseconds time) {
  retry_at_[job] = world_.steady_milliseconds() + time.count();
  loop_.after(time, wake_);
}

void JobDelays::forget(std::int64_t job) {
  retry_at_.erase(job);
  short_of_room_.erase(job);
}

std::optional<Job> JobDelays::next(bool window_open) {
  std::vector<std::int64_t> waiting;
  for (const auto& [job, until] : retry_at_) {
    if (world_.steady_milliseconds() < until) waiting.push_back(job);
  }
  std::vector<std::int64_t> others = waiting;
  others.insert(others.end(), short_of_room_.begin(), short_of_room_.end());
  const auto job = jobs_.next(window_open, others);
  if (job || short_of_room_.empty()) return job;
  short_of_room_.clear();
  return jobs_.next(window_open, waiting);
}

}  // namespace moil::daemon
