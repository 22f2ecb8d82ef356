#include "daemon/worker/landlock.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace moil::worker {
namespace {

// From linux/landlock.h, whose older editions lack the later rights; the kernel tells by its
// version which of them it knows.
enum Right : std::uint64_t {
  kExecute = 1 << 0,
  kWriteFile = 1 << 1,
  kReadFile = 1 << 2,
  kReadFolder = 1 << 3,
  kRemoveFolder = 1 << 4,
  kRemoveFile = 1 << 5,
  kMakeCharacterDevice = 1 << 6,
  kMakeFolder = 1 << 7,
  kMakeFile = 1 << 8,
  kMakeSocket = 1 << 9,
  kMakePipe = 1 << 10,
  kMakeBlockDevice = 1 << 11,
  kMakeLink = 1 << 12,
  kMoveToOtherFolder = 1 << 13,
  kTruncate = 1 << 14,
  kControlDevice = 1 << 15,
};

constexpr std::uint64_t kRead = kReadFile | kReadFolder;
constexpr std::uint64_t kUpdate = kRead | kWriteFile | kTruncate;
constexpr std::uint64_t kControl = kUpdate | kControlDevice;
constexpr std::uint64_t kChange = kUpdate | kRemoveFolder | kRemoveFile | kMakeFolder | kMakeFile;
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kControlDevice;

struct Ruleset {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scopes;
};

struct __attribute__((packed)) PathRule {
  std::uint64_t rights;
  std::int32_t descriptor;
};

constexpr unsigned kAskForVersion = 1, kRuleOfPath = 1;
constexpr std::uint64_t kTcp = 3;               // bind and connect
constexpr std::uint64_t kForeignProcesses = 3;  // their abstract sockets; signals to them

std::uint64_t known_rights(int version) {
  std::uint64_t rights = kMakeLink * 2 - 1;
  if (version >= 2) rights |= kMoveToOtherFolder;
  if (version >= 3) rights |= kTruncate;
  if (version >= 5) rights |= kControlDevice;
  return rights;
}

int create_ruleset(const Ruleset* rules, std::size_t size, unsigned flags) {
  return static_cast<int>(::syscall(SYS_landlock_create_ruleset, rules, size, flags));
}

}  // namespace

int landlock_version() { return std::max(0, create_ruleset(nullptr, 0, kAskForVersion)); }

Landlock::Landlock() : version_(landlock_version()) {
  const Ruleset rules{known_rights(version_), version_ >= 4 ? kTcp : 0,
                      version_ >= 6 ? kForeignProcesses : 0};
  rules_ = UniqueFd(create_ruleset(&rules, sizeof rules, 0));
  if (!rules_) throw system_error("cannot confine the worker (landlock_create_ruleset)", errno);
}

void Landlock::may_read(const std::filesystem::path& path) { grant(path, kRead); }
void Landlock::may_update(const std::filesystem::path& path) { grant(path, kUpdate); }
void Landlock::may_control(const std::filesystem::path& path) { grant(path, kControl); }
void Landlock::may_change(const std::filesystem::path& path) { grant(path, kChange); }
void Landlock::grant(const std::filesystem::path& path, std::uint64_t rights) {
  const UniqueFd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!place) return;
  struct stat info {};
  if (::fstat(place.get(), &info) != 0)
    throw system_error("cannot look at " + path.string(), errno);
  if (!S_ISDIR(info.st_mode)) rights &= kOfFiles;
  const PathRule rule{rights & known_rights(version_), place.get()};
  if (::syscall(SYS_landlock_add_rule, rules_.get(), kRuleOfPath, &rule, 0) != 0)
    throw system_error("cannot confine the worker to " + path.string(), errno);
}

void Landlock::enforce() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(SYS_landlock_restrict_self, rules_.get(), 0) != 0)
    throw system_error("cannot confine the worker (landlock_restrict_self)", errno);
}

}  // namespace moil::worker
