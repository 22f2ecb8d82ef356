// What is committed during its life does not wait for the disk: it is there after a crash of the
// daemon, and after a power cut once something was committed that does wait.
#pragma once

#include "base/sqlite/database.h"
#include "daemon/log/log.h"

namespace moil::daemon {

class FlushedLater {
 public:
  explicit FlushedLater(Database& db) : db_(db) { db_.run("PRAGMA synchronous = NORMAL"); }
  ~FlushedLater() {
    try {
      db_.run("PRAGMA synchronous = FULL");
    } catch (const std::exception& error) {
      log_critical("what is acknowledged may not survive a power cut: {}", error.what());
    }
  }
  FlushedLater(const FlushedLater&) = delete;
  FlushedLater& operator=(const FlushedLater&) = delete;

 private:
  Database& db_;
};

}  // namespace moil::daemon
