#include "daemon/state/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/files/open_file.h"

namespace moil::daemon {
namespace {

std::string owner(int fd) {
  char text[32] = {};
  const ssize_t n = ::pread(fd, text, sizeof text - 1, 0);
  std::string pid(text, n > 0 ? static_cast<std::size_t>(n) : 0);
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  return pid.empty() ? "another process" : "process " + pid;
}

}  // namespace

LockFile::LockFile(const std::filesystem::path& path, std::chrono::milliseconds wait)
    : fd_(open_file(path, O_RDWR | O_CREAT)) {
  if (!fd_) throw system_error("cannot open " + path.string(), errno);
  const auto deadline = std::chrono::steady_clock::now() + wait;
  while (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      throw system_error("cannot lock " + path.string(), errno);
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      throw Error(ErrorCode::kAlreadyExists, "the state folder " + path.parent_path().string() +
                                                 " is in use by " + owner(fd_.get()) +
                                                 "; stop that moild or give another --state-dir");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  // For people to read; a full disk does not keep the daemon from starting.
  if (::ftruncate(fd_.get(), 0) == 0) {
    [[maybe_unused]] const ssize_t n = ::pwrite(fd_.get(), pid.data(), pid.size(), 0);
  }
}

}  // namespace moil::daemon
