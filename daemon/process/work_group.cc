#include "daemon/process/work_group.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/files/unique_fd.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

UniqueFd& entrance() {
  static UniqueFd file;
  return file;
}

// The group in the unified hierarchy; empty if there is none.
fs::path own_control_group(const fs::path& root) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("0::/")) return root / "sys/fs/cgroup" / line.substr(4);
  return {};
}

// As systemd marks what it leaves to a service (Delegate=).
bool is_delegated(const fs::path& group) {
  char mark[8] = {};
  return ::getxattr(group.c_str(), "user.delegate", mark, sizeof mark - 1) > 0 &&
         std::strcmp(mark, "1") == 0;
}

bool write_word(const fs::path& file, const std::string& word) {
  const UniqueFd open(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return open && ::write(open.get(), word.data(), word.size()) == static_cast<ssize_t>(word.size());
}

std::string read_word(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

// The limit of the whole service, less what the daemon needs.
void hand_down(const fs::path& from, const fs::path& to, const char* limit) {
  constexpr std::uint64_t kRoom = 64 << 20;
  const std::uint64_t bytes = std::strtoull(read_word(from / limit).c_str(), nullptr, 10);
  if (bytes == 0) return;  // "max", or no such controller
  write_word(to / limit, std::to_string(bytes - std::min(kRoom, bytes / 10)));
}

}  // namespace

std::string divide_group(const fs::path& root) {
  const fs::path group = own_control_group(root);
  if (group.empty() || !is_delegated(group)) return "";
  for (const char* name : {"daemon", "work"})
    if (::mkdir((group / name).c_str(), 0755) != 0 && errno != EEXIST)
      return std::string("no control group of its own for the worker: ") + std::strerror(errno);
  if (!write_word(group / "daemon/cgroup.procs", "0"))
    return std::string("no control group of its own for the worker: ") + std::strerror(errno);
  // A group with groups below that are limited has no processes itself.
  const bool limits = write_word(group / "cgroup.subtree_control", "+memory");
  if (limits)
    for (const char* limit : {"memory.high", "memory.max"}) hand_down(group, group / "work", limit);
  entrance() = UniqueFd(::open((group / "work/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  return std::string("workers have a control group of their own") +
         (limits ? "" : ", without limits of its own");
}

int work_group() { return entrance().get(); }

}  // namespace moil::daemon
