// Which files this process may still open, from here on: Linux's Landlock, for the calling thread
// and all that it starts later. What is open already stays usable. Where
// a link leads is looked up when the rule is made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/files/unique_fd.h"

namespace moil::worker {

// The version of Landlock that the kernel has; 0: none, or switched off.
int landlock_version();

class Landlock {
 public:
  // Nothing is granted yet. kIo if the kernel refuses; only if landlock_version() > 0.
  Landlock();

  // Grants a file, or a folder and all that is and will be in it. Passes over what is not there.
  void may_read(const std::filesystem::path& path);
  void may_update(const std::filesystem::path& path);   // read, and write to what is there
  void may_control(const std::filesystem::path& path);  // update, and ioctl(2): of a device node
  void may_change(const std::filesystem::path& path);   // read, write, make, rename and remove

  // Also: no TCP, no signals and no sockets of other processes, if the kernel can forbid them.
  void enforce();

 private:
  void grant(const std::filesystem::path& path, std::uint64_t rights);

  const int version_;
  UniqueFd rules_;
};

}  // namespace moil::worker
