#include "featurecache/environment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files/disk_full.h"
#include "featurecache/discard.h"
#include "featurecache/folder.h"
#include "featurecache/lmdb_error.h"

namespace moil::cache {
namespace {

constexpr unsigned kMaxReaders = 126;
constexpr std::uint64_t kMinMapBytes = 1 << 20;
constexpr std::uint64_t kMaxGrowth = std::uint64_t{1} << 30;
// LMDB takes a write that the system cuts short for EIO, and undoes the transaction.
constexpr int kCommitTries = 5;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Environment::Environment(const std::filesystem::path& folder, std::uint64_t map_bytes,
                         bool read_only)
    : folder_(folder), read_only_(read_only) {
  if (!read_only_) {
    remove_discarded(folder_);
    prepare_folder(folder_);
  }
  registration_.acquire(folder_);
  if (!read_only_) reserve_lock_file(folder_);
  idle_readers_.reserve(kMaxReaders);
  try {
    open(map_bytes);
  } catch (...) {
    ::mdb_env_close(env_);
    throw;
  }
}

// Flags (docs/cache-format.md, "Durability"): NOMETASYNC saves one of two flushes a commit and can
// lose the newest commits, never tear one. NOTLS ties a snapshot to its object, not its thread.
void Environment::open(std::uint64_t map_bytes) {
  const std::string doing = "open";
  check(::mdb_env_create(&env_), doing);
  page_bytes_ = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  check(::mdb_env_set_mapsize(env_, round_up(std::max(map_bytes, kMinMapBytes), page_bytes_)),
        doing);
  check(::mdb_env_set_maxreaders(env_, kMaxReaders), doing);
  check(::mdb_env_set_maxdbs(env_, 8), doing);
  const unsigned flags = MDB_NOTLS | MDB_NOMETASYNC | (read_only_ ? MDB_RDONLY : 0);
  check(::mdb_env_open(env_, folder_.c_str(), flags, 0600), doing);
  MDB_stat stat{};
  check(::mdb_env_stat(env_, &stat), doing);
  page_bytes_ = stat.ms_psize;
  int dead = 0;
  check(::mdb_reader_check(env_, &dead), doing);
  cover_used_pages();
}

// A data file cut short would be a SIGBUS at the first touch behind its end. Pages that read as
// zeros are an error LMDB can report; and the last pages may rightly be missing if they are
// free.
void Environment::cover_used_pages() {
  const auto missing = [this] {
    MDB_envinfo info{};
    check(::mdb_env_info(env_, &info), "open");
    struct stat file {};
    if (::fstat(data_fd(), &file) != 0) throw system_error(opening(folder_), errno);
    const std::uint64_t need = (info.me_last_pgno + 1) * page_bytes_;
    return static_cast<std::uint64_t>(file.st_size) < need ? need : 0;
  };
  if (missing() == 0) return;
  if (read_only_) {
    throw Unusable(ErrorCode::kBadData, opening(folder_) +
                                            " read-only: data.mdb is shorter than it says; open it "
                                            "for writing once");
  }
  look_exclusively([&](MDB_txn*) {
    const std::uint64_t need = missing();
    if (need != 0 && ::ftruncate(data_fd(), static_cast<off_t>(need)) != 0) {
      throw_write_error(opening(folder_), errno);
    }
  });
}

Environment::~Environment() {
  for (const Reader& reader : idle_readers_) ::mdb_txn_abort(reader.txn);
  ::mdb_env_close(env_);
}

int Environment::data_fd() const {
  int fd = -1;
  check(::mdb_env_get_fd(env_, &fd), "use");
  return fd;
}

std::uint64_t Environment::map_bytes() const {
  MDB_envinfo info{};
  check(::mdb_env_info(env_, &info), "use");
  return info.me_mapsize;
}

void Environment::sync() { check(::mdb_env_sync(env_, 1), "sync"); }

void Environment::fail(int rc, std::string_view doing) const {
  throw_lmdb_error(rc, folder_, doing);
}

void Environment::write(const std::function<void(MDB_txn*)>& body) { run(body, true); }

void Environment::look_exclusively(const std::function<void(MDB_txn*)>& body) { run(body, false); }

void Environment::run(const std::function<void(MDB_txn*)>& body, bool commit) {
  if (read_only_) {
    throw Error(ErrorCode::kFailedPrecondition,
                "the feature cache " + folder_.string() + " was opened read-only");
  }
  const std::lock_guard lock(write_mutex_);
  for (int tries = 1;; ++tries) {
    MDB_txn* txn = begin_write();
    try {
      body(txn);
      if (!commit) return ::mdb_txn_abort(txn);
      MDB_txn* const done = std::exchange(txn, nullptr);  // commit frees it, whatever it returns
      const int rc = ::mdb_txn_commit(done);
      if (rc != EIO || tries >= kCommitTries || !may_write()) return check(rc, "write");
    } catch (const MapFull&) {
      ::mdb_txn_abort(txn);
      grow();
    } catch (...) {
      ::mdb_txn_abort(txn);
      throw;
    }
  }
}

// LMDB gives an environment up if what failed was the page that names the newest commit.
bool Environment::may_write() const {
  MDB_txn* txn = nullptr;
  const int rc = ::mdb_txn_begin(env_, nullptr, 0, &txn);
  ::mdb_txn_abort(txn);
  return rc != MDB_PANIC;
}

// Called with write_mutex_ held.
MDB_txn* Environment::begin_write() {
  for (;;) {
    if (unmapped_) fail(MDB_PANIC, "write");
    MDB_txn* txn = nullptr;
    const int rc = ::mdb_txn_begin(env_, nullptr, 0, &txn);
    if (rc == 0) return txn;
    if (rc != MDB_MAP_RESIZED) fail(rc, "write");
    resize(0);
  }
}

Environment::Reader Environment::idle_reader() {
  const std::lock_guard lock(readers_mutex_);
  if (idle_readers_.empty()) return {};
  Reader reader = std::move(idle_readers_.back());
  idle_readers_.pop_back();
  return reader;
}

Environment::Reader Environment::acquire_reader() {
  for (;;) {
    {
      const std::lock_guard gate(gate_);
      map_lock_.lock_shared();
    }
    Reader reader = idle_reader();
    const int rc = unmapped_    ? MDB_PANIC
                   : reader.txn ? ::mdb_txn_renew(reader.txn)
                                : ::mdb_txn_begin(env_, nullptr, MDB_RDONLY, &reader.txn);
    if (rc == 0) return reader;
    ::mdb_txn_abort(reader.txn);  // null is allowed
    map_lock_.unlock_shared();
    if (rc != MDB_MAP_RESIZED) fail(rc, "read");
    adopt_growth();
  }
}

void Environment::release_reader(Reader reader) {
  ::mdb_txn_reset(reader.txn);
  {
    const std::lock_guard lock(readers_mutex_);
    // Within what was reserved: LMDB gives out kMaxReaders at most.
    idle_readers_.push_back(std::move(reader));
  }
  map_lock_.unlock_shared();
}

std::span<const std::uint8_t> ReadTransaction::bytes_of(const MDB_val& value) {
  const auto* mapped = static_cast<const std::uint8_t*>(value.mv_data);
  const auto offset = env_.resident_.file_offset(mapped);
  const bool has_pages = value.mv_size >= env_.page_bytes_ / 2;  // LMDB keeps two on a shared one
  if (!has_pages || !offset) return {mapped, value.mv_size};
  std::vector<std::uint8_t>& copy = reader_.value;
  if (copy.size() < value.mv_size) copy.resize(value.mv_size);
  const ssize_t n = ::pread(env_.data_fd(), copy.data(), value.mv_size, *offset);
  if (n != static_cast<ssize_t>(value.mv_size)) return {};
  return {copy.data(), value.mv_size};
}

// Any record will do. In a transaction of its own, past the locks: nobody else is at work here.
void Environment::find_map() {
  resident_.set_map(nullptr);
  MDB_txn* txn = nullptr;
  if (::mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn) != 0) return;
  MDB_dbi names = 0;
  MDB_cursor* cursor = nullptr;
  if (::mdb_dbi_open(txn, nullptr, 0, &names) == 0 && ::mdb_cursor_open(txn, names, &cursor) == 0) {
    MDB_val key{}, value{};
    if (::mdb_cursor_get(cursor, &key, &value, MDB_FIRST) == 0) resident_.set_map(value.mv_data);
    ::mdb_cursor_close(cursor);
  }
  ::mdb_txn_abort(txn);
}

// Another process has grown the map.
void Environment::adopt_growth() {
  const std::lock_guard lock(write_mutex_);
  resize(0);
}

// Called with write_mutex_ held and no write transaction open.
void Environment::grow() {
  int dead = 0;
  check(::mdb_reader_check(env_, &dead), "grow");  // a killed reader may be what pins the pages
  const std::uint64_t now = map_bytes();
  resize(round_up(now + std::min(now, kMaxGrowth), page_bytes_));
}

void Environment::resize(std::uint64_t bytes) {
  const std::lock_guard gate(gate_);
  const std::lock_guard moving(map_lock_);
  const std::uint64_t before = map_bytes();
  const int rc = ::mdb_env_set_mapsize(env_, bytes);
  if (rc != 0 && ::mdb_env_set_mapsize(env_, before) != 0) unmapped_ = true;
  if (!unmapped_) find_map();
  check(rc, "grow the map of");
}

}  // namespace moil::cache
