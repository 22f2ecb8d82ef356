#include "daemon/ctl/device/stuck_processes.h"

#include <algorithm>
#include <charconv>

#include "daemon/schedule/sysfs.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

constexpr char kUninterruptible = 'D';

// "812 (a name (with) brackets) D 1 ...": a name may hold anything.
bool waits_uninterruptibly(const std::string& stat) {
  const auto end = stat.rfind(") ");
  return end != std::string::npos && end + 2 < stat.size() && stat[end + 2] == kUninterruptible;
}

}  // namespace

std::vector<StuckProcess> stuck_processes(const fs::path& root) {
  std::vector<StuckProcess> found;
  for (const fs::path& process : sysfs_entries(root / "proc")) {
    const std::string number = process.filename();
    int pid = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), pid);
    if (error != std::errc() || end != number.data() + number.size()) continue;
    const auto tasks = sysfs_entries(process / "task");
    const auto is_stuck = [](const fs::path& t) {
      return waits_uninterruptibly(sysfs_line(t / "stat"));
    };
    if (std::ranges::any_of(tasks, is_stuck)) found.push_back({pid, sysfs_line(process / "comm")});
  }
  std::ranges::sort(found, {}, &StuckProcess::pid);
  return found;
}

std::vector<StuckProcess> in_both(const std::vector<StuckProcess>& before,
                                  const std::vector<StuckProcess>& after) {
  std::vector<StuckProcess> both;
  for (const StuckProcess& process : before)
    if (std::ranges::find(after, process) != after.end()) both.push_back(process);
  return both;
}

std::string names_of(const std::vector<StuckProcess>& processes) {
  constexpr std::size_t kMost = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(processes.size(), kMost); ++i)
    text +=
        (i == 0 ? "" : ", ") + processes[i].name + " (" + std::to_string(processes[i].pid) + ")";
  if (processes.size() > kMost)
    text += " and " + std::to_string(processes.size() - kMost) + " more";
  return text;
}

}  // namespace moil::daemon::ctl
