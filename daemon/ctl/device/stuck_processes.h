// Processes that wait without an end: for a dead network or FUSE mount, or a disk that does not
// answer. moilctl looks for them and not moild, whose unit hides other users' processes from it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace moil::daemon::ctl {

struct StuckProcess {
  int pid = 0;
  std::string name;
  bool operator==(const StuckProcess&) const = default;
};

// Those with a task that waits uninterruptibly at this moment, by number; root: where proc is. Work
// on a disk does so for milliseconds: who is in two such lists, some time apart, waits for long.
std::vector<StuckProcess> stuck_processes(const std::filesystem::path& root);
std::vector<StuckProcess> in_both(const std::vector<StuckProcess>& before,
                                  const std::vector<StuckProcess>& after);

// "rsync (812), find (911) and 3 more"
std::string names_of(const std::vector<StuckProcess>& processes);

}  // namespace moil::daemon::ctl
