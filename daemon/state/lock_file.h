// One daemon a state folder: an exclusive flock on STATE/lock, which names the owner's process.
//
// The lock goes with the open file, so a worker that inherits the descriptor holds it until it is
// dead too: a restarted daemon never runs a job that an old worker still writes.
#pragma once

#include <chrono>
#include <filesystem>

#include "base/files/unique_fd.h"

namespace moil::daemon {

class LockFile {
 public:
  // Waits a moment for a dying owner; kAlreadyExists if it is still locked then.
  explicit LockFile(const std::filesystem::path& path,
                    std::chrono::milliseconds wait = std::chrono::seconds(2));
  int descriptor() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

}  // namespace moil::daemon
