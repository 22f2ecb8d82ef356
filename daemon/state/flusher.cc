#include "daemon/state/flusher.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/disk_full.h"
#include "base/files/file.h"
#include "base/files/open_file.h"
#include "base/files/unique_fd.h"
#include "daemon/log/log.h"
#include "daemon/state/flushed_later.h"

namespace moil::daemon {
namespace {

constexpr int kLongLog = 1000;  // pages; then it is copied
constexpr int kTries = 5;       // of a flush, before anybody is told that it fails
constexpr std::chrono::milliseconds kBetweenTries{200};
// For telling those who waited, in a turn of the loop.
constexpr std::chrono::milliseconds kTellingTurn{10};

// Whether all of the log is in the file now, and flushed.
bool is_copied(const Database& database, int mode) {
  int pages = 0, copied = 0;
  const int code = sqlite3_wal_checkpoint_v2(database.handle(), nullptr, mode, &pages, &copied);
  if (code == SQLITE_BUSY) return false;
  if (code != SQLITE_OK) database.fail(code, "copy the log");
  return pages >= 0 && pages == copied;
}

}  // namespace

// Everything here is the thread's, but for what is guarded.
struct Flusher::Thread {
  EventLoop& loop;
  const std::weak_ptr<Flusher*> owner;  // locked on the loop alone
  const std::filesystem::path file;

  std::mutex mutex;
  std::condition_variable wake;
  std::uint64_t wanted = 0;     // guarded by mutex
  int log_pages = 0;            // guarded by mutex
  std::vector<Erased> erasing;  // guarded by mutex
  bool stopping = false;        // guarded by mutex

  std::uint64_t flushed = 0;
  bool is_suspect = false;  // a flush failed, and none by way of the file succeeded since
  UniqueFd log;
  std::optional<Database> database;  // of its own, once it is needed
  std::thread thread;

  Thread(EventLoop& the_loop, std::weak_ptr<Flusher*> the_owner, std::filesystem::path path)
      : loop(the_loop), owner(std::move(the_owner)), file(std::move(path)) {
    thread = std::thread([this] { run(); });
  }

  ~Thread() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    wake.notify_one();
    thread.join();
  }

  struct Work {
    std::uint64_t mark;
    bool is_long;
    std::vector<Erased> erasing;
  };

  template <class Change>
  void ask(const Change& change) {
    {
      const std::lock_guard lock(mutex);
      change();
    }
    wake.notify_one();
  }

  // Empty: it is to end.
  std::optional<Work> next() {
    std::unique_lock lock(mutex);
    const auto has_work = [this] {
      return stopping || wanted > flushed || log_pages >= kLongLog || !erasing.empty();
    };
    if (is_suspect) {
      wake.wait_for(lock, kBetweenTries, has_work);
    } else {
      wake.wait(lock, has_work);
    }
    if (stopping) return std::nullopt;
    return Work{wanted, std::exchange(log_pages, 0) >= kLongLog, std::exchange(erasing, {})};
  }

  void run() {
    while (auto work = next()) {
      if (work->mark > flushed || is_suspect) tell(work->mark, flush());
      flushed = work->mark;
      if (work->is_long) copy_log();
      if (!work->erasing.empty()) erase(std::move(work->erasing));
    }
  }

  void tell(std::uint64_t mark, const std::exception_ptr& error) {
    loop.post([owner = owner, mark, error] {
      if (const auto alive = owner.lock()) (*alive)->flushed(mark, error);
    });
  }

  std::exception_ptr flush() {
    for (int tries = 1;; ++tries) {
      try {
        is_suspect ? flush_file() : flush_log();
        is_suspect = false;
        return nullptr;
      } catch (const std::exception& error) {
        if (!std::exchange(is_suspect, true)) log_error("{}; it is tried again", error.what());
        if (tries == kTries || !pause()) return std::current_exception();
      }
    }
  }

  // False if it is to end.
  bool pause() {
    std::unique_lock lock(mutex);
    return !wake.wait_for(lock, kBetweenTries, [this] { return stopping; });
  }

  void flush_log() {
    const std::filesystem::path path = file.string() + "-wal";
    const bool is_first = !log;
    if (is_first) log = UniqueFd(open_file(path, O_RDONLY));
    if (!log) throw system_error("cannot open " + path.string(), errno);
    if (::fdatasync(log.get()) != 0) throw_write_error("cannot flush " + path.string(), errno);
    if (is_first) sync_folder(path.parent_path());
  }

  void flush_file() {
    if (!is_copied(opened(), SQLITE_CHECKPOINT_PASSIVE))
      throw Error(ErrorCode::kIo, "cannot flush " + file.string() + ": somebody reads it");
  }

  Database& opened() {
    if (!database) {
      database.emplace(file, Database::Access::kReadWrite);
      sqlite3_busy_timeout(database->handle(), 0);
      (void)database->number("PRAGMA user_version");  // from its first read on it knows the log
    }
    return *database;
  }

  void copy_log() {
    try {
      is_copied(opened(), SQLITE_CHECKPOINT_PASSIVE);
    } catch (const std::exception& error) {
      log_warn("the log of the state is not copied: {}", error.what());
    }
  }

  // First the copying, during which the loop may write; then there is nothing left to wait for.
  void erase(std::vector<Erased> asked) {
    bool done = false;
    std::exception_ptr error;
    try {
      done = is_copied(opened(), SQLITE_CHECKPOINT_PASSIVE) &&
             is_copied(opened(), SQLITE_CHECKPOINT_TRUNCATE);
      if (done) flush_log();  // SQLite does not flush that it is empty now
    } catch (...) {
      error = std::current_exception();
    }
    loop.post([owner = owner, asked = std::move(asked), done, error] {
      if (owner.expired()) return;
      for (const Erased& one : asked) one(done, error);
    });
  }
};

Flusher::Flusher(EventLoop& loop, Database& database, const std::filesystem::path& file)
    : loop_(loop),
      database_(database),
      self_(std::make_shared<Flusher*>(this)),
      thread_(std::make_unique<Thread>(loop, self_, file)) {
  database_.run("PRAGMA synchronous = NORMAL");
  sqlite3_wal_hook(database_.handle(), on_commit, this);
}

Flusher::~Flusher() {
  constexpr int kUsual = 1000;  // pages, as of any connection
  sqlite3_wal_autocheckpoint(database_.handle(), kUsual);
  try {
    database_.run("PRAGMA synchronous = FULL");
  } catch (const std::exception& error) {
    log_critical("what is acknowledged may not survive a power cut: {}", error.what());
  }
}

int Flusher::on_commit(void* flusher, sqlite3*, const char*, int pages) {
  auto& self = *static_cast<Flusher*>(flusher);
  if (!FlushedLater::is_on()) ++self.committed_;
  self.thread_->ask([&] {
    self.thread_->wanted = self.committed_;
    self.thread_->log_pages = pages;
  });
  return SQLITE_OK;
}

void Flusher::then(Then what) {
  if (waiting_.empty() && flushed_ == committed_ && !error_) return what(nullptr);
  waiting_.push_back({committed_, std::move(what)});
}

void Flusher::erase(Erased done) {
  thread_->ask([&] { thread_->erasing.push_back(std::move(done)); });
}

void Flusher::flushed(std::uint64_t mark, const std::exception_ptr& error) {
  flushed_ = mark;
  error_ = error;
  if (!telling_) tell_some();
}

void Flusher::tell_some() {
  const auto end = std::chrono::steady_clock::now() + kTellingTurn;
  telling_ = false;
  while (!waiting_.empty() && waiting_.front().mark <= flushed_) {
    if (std::chrono::steady_clock::now() >= end) {
      telling_ = true;
      return loop_.post([self = std::weak_ptr(self_)] {
        if (const auto alive = self.lock()) (*alive)->tell_some();
      });
    }
    const Then what = std::move(waiting_.front().what);
    waiting_.pop_front();
    try {
      what(error_);
    } catch (const std::exception& failure) {
      log_error("after a flush: {}", failure.what());
    }
  }
}

}  // namespace moil::daemon
