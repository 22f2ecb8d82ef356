// What the loop commits reaches the disk beside it: a commit writes to the database's log and waits
// for nothing; a thread flushes the log, once for all that was committed meanwhile. What tells
// others of a commit, and what takes away files that rows needed before it, comes after the flush:
// it waits in then(). So the loop serves its clients however slow the disk is, and what they were
// told survives a power cut.
//
// The system takes what it could not write for written. So a flush that failed is tried again by
// way of the database's own file, a few times before those who wait are told, and until it
// succeeds.
//
// The thread also copies a long log into the database's file. Loop thread only; handlers of then()
// and erase() run on it.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>

#include "base/sqlite/database.h"
#include "daemon/loop/event_loop.h"

namespace moil::daemon {

class Flusher {
 public:
  // `error`: the disk does not have it.
  using Then = std::function<void(const std::exception_ptr& error)>;
  using Erased = std::function<void(bool is_erased, const std::exception_ptr& error)>;

  // `database` is the loop's connection to `file`, in WAL mode, and outlives it. From here on its
  // commits wait for no disk, until the end of this.
  Flusher(EventLoop& loop, Database& database, const std::filesystem::path& file);
  ~Flusher();  // ends a flush under way; who waits is not called any more
  Flusher(const Flusher&) = delete;
  Flusher& operator=(const Flusher&) = delete;

  // Calls when all that is committed so far is on the disk: at once if it is there; else later, in
  // the order in which it was asked. None of FlushedLater's commits is waited for.
  void then(Then what);
  // What was overwritten is gone from the database's files. It is not gone if another connection
  // still reads it.
  void erase(Erased done);

 private:
  struct Thread;

  static int on_commit(void* flusher, sqlite3* handle, const char* name, int pages);
  void flushed(std::uint64_t mark, const std::exception_ptr& error);
  void tell_some();

  struct Waiting {
    std::uint64_t mark;
    Then what;
  };

  EventLoop& loop_;
  Database& database_;
  std::uint64_t committed_ = 0, flushed_ = 0;  // commits so far
  std::exception_ptr error_;                   // of the latest flush
  std::deque<Waiting> waiting_;
  bool telling_ = false;
  const std::shared_ptr<Flusher*> self_;  // null once this is gone
  const std::unique_ptr<Thread> thread_;
};

}  // namespace moil::daemon
