// open(2), begun again if a signal or a network disk interrupts it. Safe from any thread.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <filesystem>

namespace moil {

// Closed on exec, a new file is private. Below 0, and errno set, if that fails.
[[nodiscard]] inline int open_file(const std::filesystem::path& path, int flags) {
  for (;;) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
    if (fd >= 0 || errno != EINTR) return fd;
  }
}

}  // namespace moil
