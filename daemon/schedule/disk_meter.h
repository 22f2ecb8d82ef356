// How busy this device's own disks are: the largest share of about the last minute in which one of
// them had work to do, as the disks' own counters have it.
//
// The kernel's pressure of I/O alone does not tell: one process that waits for a network or FUSE
// mount that is gone counts as waiting for ever, though nothing is read or written. A plain value
// type.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace moil::daemon {

// A disk's counters since it is there.
struct DiskTicks {
  std::string name;
  std::uint64_t done = 0;               // reads, writes and discards that were completed
  std::uint64_t busy_milliseconds = 0;  // in which something was under way
  std::uint64_t under_way = 0;          // now
};

// From the text of /proc/diskstats, without what is no disk (loop devices, RAM, what lies over
// other disks) and what is another machine's. Empty if it is not understood.
std::optional<std::vector<DiskTicks>> parse_disk_ticks(const std::string& proc_diskstats);

class DiskMeter {
 public:
  // Takes the present counts along and says the share, 0 to 1; empty in the first seconds. A disk
  // that completes nothing in all that time is dead, and not busy.
  std::optional<double> read(std::vector<DiskTicks> now, std::int64_t steady_milliseconds);

 private:
  struct Sample {
    std::vector<DiskTicks> disks;
    std::int64_t at = 0;
  };
  std::deque<Sample> samples_;  // oldest first
};

}  // namespace moil::daemon
