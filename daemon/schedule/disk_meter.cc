#include "daemon/schedule/disk_meter.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <utility>

namespace moil::daemon {
namespace {

constexpr std::int64_t kDiskSpan = 60'000, kLeastDiskSpan = 3'000, kDiskLooksApart = 1'000;

bool is_own_disk(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNoDisks = {"loop", "ram", "zram", "dm-", "md",
                                                        "sr",   "fd",  "nbd",  "rbd"};
  return std::ranges::none_of(kNoDisks, [&](std::string_view no) { return name.starts_with(no); });
}

double busy_share(const DiskTicks& then, const DiskTicks& now, std::int64_t milliseconds) {
  if (now.done <= then.done || now.busy_milliseconds < then.busy_milliseconds) return 0;
  const auto busy = static_cast<double>(now.busy_milliseconds - then.busy_milliseconds);
  return std::min(1.0, busy / static_cast<double>(milliseconds));
}

}  // namespace

std::optional<std::vector<DiskTicks>> parse_disk_ticks(const std::string& proc_diskstats) {
  std::vector<DiskTicks> disks;
  bool any = false;
  std::istringstream lines(proc_diskstats);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    any = true;
    std::istringstream words(line);
    std::uint64_t major = 0, minor = 0;
    DiskTicks disk;
    std::array<std::uint64_t, 12>
        counts{};  // Documentation/admin-guide/iostats.rst; 11 before 4.18
    if (!(words >> major >> minor >> disk.name)) return std::nullopt;
    std::size_t told = 0;
    while (told < counts.size() && words >> counts[told]) ++told;
    if (told < 11) return std::nullopt;
    if (!is_own_disk(disk.name)) continue;
    disk.done = counts[0] + counts[4] + counts[11];
    disk.under_way = counts[8];
    disk.busy_milliseconds = counts[9];
    disks.push_back(std::move(disk));
  }
  return any ? std::optional(std::move(disks)) : std::nullopt;
}

std::optional<double> DiskMeter::read(std::vector<DiskTicks> now,
                                      std::int64_t steady_milliseconds) {
  // The oldest that is kept is the youngest that is a whole span old.
  while (samples_.size() > 1 && steady_milliseconds - samples_[1].at >= kDiskSpan)
    samples_.pop_front();
  std::optional<double> share;
  if (!samples_.empty() && steady_milliseconds - samples_.front().at >= kLeastDiskSpan) {
    const Sample& then = samples_.front();
    share = 0;
    for (const DiskTicks& disk : now) {
      const auto before = std::ranges::find(then.disks, disk.name, &DiskTicks::name);
      if (before == then.disks.end()) continue;  // it was plugged in since
      share = std::max(*share, busy_share(*before, disk, steady_milliseconds - then.at));
    }
  }
  if (samples_.empty() || steady_milliseconds - samples_.back().at >= kDiskLooksApart)
    samples_.push_back({std::move(now), steady_milliseconds});
  return share;
}

}  // namespace moil::daemon
