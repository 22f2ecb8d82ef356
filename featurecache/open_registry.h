// Which LMDB folders this process has open.
//
// LMDB must not be opened twice by one process: closing either handle drops the fcntl locks of
// both. The rule is the process's, so the list is too. Safe from any thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <utility>

namespace moil::cache {

class OpenRegistration {
 public:
  OpenRegistration() = default;
  ~OpenRegistration() { release(); }
  OpenRegistration(const OpenRegistration&) = delete;
  OpenRegistration& operator=(const OpenRegistration&) = delete;

  // kFailedPrecondition if the folder (by device and inode) is open in this process.
  void acquire(const std::filesystem::path& folder);

 private:
  void release();

  std::pair<dev_t, ino_t> id_{};
  bool held_ = false;
};

}  // namespace moil::cache
