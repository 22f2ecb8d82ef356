// An LMDB environment that grows: folder, files, map size and transactions.
//
// LMDB forbids changing the map's size while this process has a transaction open, so every
// transaction goes through here. Lock order: write mutex, gate, map lock.
//   - ReadTransaction: any number of threads; hold it briefly (it pins pages and delays growth).
//   - write(): one thread at a time, others wait; also serialised against other processes by LMDB.
//   - A thread must not call write() or begin a second read while it holds a ReadTransaction; a
//     read inside write()'s body is fine, and sees what was committed before.
// Not usable after fork() in the child. Errors: moil::Error that names the folder.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "featurecache/open_registry.h"
#include "featurecache/resident_pages.h"

namespace moil::cache {

constexpr std::uint64_t kMetaPages = 2;  // with which a file of LMDB begins

class Environment {
 public:
  // Creates folder (0700) and files (0600) unless read_only. kFailedPrecondition if this process
  // has the folder open already: LMDB's locks do not allow a second handle.
  Environment(const std::filesystem::path& folder, std::uint64_t map_bytes, bool read_only);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // Runs body in a write transaction and commits. If the map is full it grows and body runs again,
  // as it does a few times if the file could not be written, so body must start from scratch each
  // time. Any exception aborts the transaction.
  void write(const std::function<void(MDB_txn*)>& body);

  // As write(), but the transaction is aborted in the end: for looking while nobody writes.
  void look_exclusively(const std::function<void(MDB_txn*)>& body);

  // Within a transaction: a record was found in the map, or is going to be written.
  void touched() const { resident_.touched(); }
  // Once there is a record; nothing is given back before (resident_pages.h).
  void find_map();

  // Makes everything committed survive a power cut.
  void sync();

  MDB_env* get() const { return env_; }
  int data_fd() const;
  std::uint64_t page_bytes() const { return page_bytes_; }
  std::uint64_t map_bytes() const;
  bool read_only() const { return read_only_; }
  const std::filesystem::path& folder() const { return folder_; }

  // Throws unless rc is 0; doing completes "cannot ...".
  void check(int rc, std::string_view doing) const {
    if (rc != 0) fail(rc, doing);
  }
  [[noreturn]] void fail(int rc, std::string_view doing) const;

 private:
  friend class ReadTransaction;

  struct Reader {
    MDB_txn* txn = nullptr;
    std::vector<std::uint8_t> value;  // what was read from the file last
  };

  void open(std::uint64_t map_bytes);
  void cover_used_pages();
  void run(const std::function<void(MDB_txn*)>& body, bool commit);
  bool may_write() const;
  MDB_txn* begin_write();
  Reader acquire_reader();
  void release_reader(Reader reader);
  Reader idle_reader();
  void grow();
  void adopt_growth();
  void resize(std::uint64_t bytes);

  const std::filesystem::path folder_;
  const bool read_only_;
  OpenRegistration registration_;
  MDB_env* env_ = nullptr;
  std::uint64_t page_bytes_ = 0;
  mutable ResidentPages resident_;
  std::atomic<bool> unmapped_ = false;  // growth failed and the old map could not be restored

  std::mutex write_mutex_;
  std::mutex gate_;             // lets a resize in front of readers that would overlap for ever
  std::shared_mutex map_lock_;  // shared: a read transaction is open; exclusive: the map moves
  std::mutex readers_mutex_;
  std::vector<Reader> idle_readers_;  // reset transactions, kept for renewal
};

// A snapshot. Reuses a reset transaction: allocates nothing once as many exist as threads read and
// have read their largest value.
class ReadTransaction {
 public:
  explicit ReadTransaction(Environment& env) : env_(env), reader_(env.acquire_reader()) {}
  ~ReadTransaction() { env_.release_reader(std::move(reader_)); }
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;
  MDB_txn* get() const { return reader_.txn; }

  // The bytes of a value that LMDB found, good until the next call. One with pages of its own is
  // read from the file: LMDB has not touched them, and to map them would cost more than to copy
  // them. Empty if the file cannot be read.
  std::span<const std::uint8_t> bytes_of(const MDB_val& value);

 private:
  Environment& env_;
  Environment::Reader reader_;
};

}  // namespace moil::cache
