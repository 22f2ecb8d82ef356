#include "daemon/state/state_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/access.h"
#include "base/error.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

constexpr const char* kAdvice = "give another --state-dir";

std::string named(const fs::path& folder) { return "the state folder " + folder.string(); }

Error unfit(const fs::path& folder, const std::string& why) {
  return Error(ErrorCode::kFailedPrecondition, named(folder) + " " + why);
}

// Without a name at its end ("/srv/state/") it is the same folder.
fs::path plain(const fs::path& root) {
  const fs::path whole = fs::absolute(root).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

// False if it is there already.
bool make(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  int number = error.value();
  if (number == 0 && ::mkdir(folder.c_str(), 0700) == 0) return true;
  if (number == 0) number = errno;
  if (number == EEXIST && fs::exists(folder, error)) return false;
  const Error why = access_error("cannot create " + named(folder), folder.parent_path(), number);
  throw Error(why.code(), std::string(why.what()) + "; " + kAdvice);
}

// moild begins with the lock, so that what holds neither it nor the database is another's.
bool is_moilds(const fs::path& folder) {
  const StateLayout layout(folder);
  return fs::exists(layout.lock()) || fs::exists(layout.database());
}

void check_content(const fs::path& folder) {
  if (is_moilds(folder)) return;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename() == "lost+found") continue;  // the root of a file system
    throw unfit(folder, "holds files that are not moild's (" + entry.path().filename().string() +
                            "); give --state-dir a folder of its own");
  }
}

void check(const fs::path& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) {
    throw access_error("cannot look at " + named(folder), folder, errno);
  }
  if (!S_ISDIR(info.st_mode)) throw unfit(folder, "is not a folder");
  if (::access(folder.c_str(), R_OK | W_OK | X_OK) != 0) {
    throw Error(ErrorCode::kIo, named(folder) + " is not writable for user " +
                                    user_name(::geteuid()) + "; " + kAdvice);
  }
  check_content(folder);
  if (info.st_uid != ::geteuid()) {
    throw unfit(folder, "belongs to user " + user_name(info.st_uid) + ", this moild runs as " +
                            user_name(::geteuid()) + "; start it as the folder's user, or " +
                            kAdvice);
  }
  if ((info.st_mode & 077U) != 0) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", info.st_mode & 07777U);
    throw unfit(folder, "is open to other users (mode " + std::string(mode) +
                            "); make it private (chmod 700 " + folder.string() + "), or " +
                            kAdvice);
  }
}

}  // namespace

StateFolder::StateFolder(const fs::path& root) : layout_(plain(root)) {
  if (!make(layout_.root())) check(layout_.root());
}

}  // namespace moil::daemon
