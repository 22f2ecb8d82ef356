// Free pages given back to the file system, and their content erased with that.
//
// LMDB never shrinks its file and leaves old bytes in free pages. A page freed by commit N can
// still be read by a snapshot older than N, and by whoever recovers from the meta page of commit N
// - 1. So: one more commit, both on disk; then, with the write lock held so that no free page is
// reused under our hands, every page freed up to that point and unseen by any reader becomes a
// hole.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/files/disk_full.h"
#include "featurecache/freelist.h"
#include "featurecache/state.h"

namespace moil::cache {
namespace {

// mdb_reader_list() has no other form than text: a heading, then lines of "pid thread txnid", with
// "-" for a slot that reads nothing.
int take_older(const char* line, void* context) {
  auto& oldest = *static_cast<std::uint64_t*>(context);
  unsigned long long txnid = 0;
  if (std::sscanf(line, "%*d %*x %llu", &txnid) == 1) {
    oldest = std::min<std::uint64_t>(oldest, txnid);
  }
  return 0;
}

std::uint64_t last_unreadable_commit(const Environment& env) {
  MDB_envinfo info{};
  env.check(::mdb_env_info(env.get(), &info), "reclaim");
  std::uint64_t oldest = info.me_last_txnid - 1;
  int dead = 0;
  env.check(::mdb_reader_check(env.get(), &dead), "reclaim");
  if (const int rc = ::mdb_reader_list(env.get(), take_older, &oldest); rc < 0) {
    env.fail(rc, "reclaim");
  }
  return oldest;
}

void erase_range(int fd, std::uint64_t from, std::uint64_t bytes) {
  const std::vector<std::uint8_t> zeros(std::min<std::uint64_t>(bytes, 1 << 20));
  while (bytes > 0) {
    const auto part = std::min<std::uint64_t>(bytes, zeros.size());
    const ssize_t n = ::pwrite(fd, zeros.data(), part, static_cast<off_t>(from));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_write_error("cannot erase free pages of the feature cache", errno);
    from += static_cast<std::uint64_t>(n);
    bytes -= static_cast<std::uint64_t>(n);
  }
}

void erase(int fd, std::uint64_t from, std::uint64_t bytes) {
  const int rc = ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                             static_cast<off_t>(from), static_cast<off_t>(bytes));
  if (rc == 0) return;
  if (errno != EOPNOTSUPP && errno != ENOSYS) {
    throw_write_error("cannot reclaim free pages of the feature cache", errno);
  }
  erase_range(fd, from, bytes);
}

// Neighbouring pages in one call.
void erase_pages(int fd, const std::vector<std::uint64_t>& pages, std::uint64_t page_bytes) {
  for (std::size_t i = 0; i < pages.size();) {
    std::size_t end = i + 1;
    while (end < pages.size() && pages[end] == pages[end - 1] + 1) ++end;
    erase(fd, pages[i] * page_bytes, (end - i) * page_bytes);
    i = end;
  }
}

}  // namespace

std::uint64_t FeatureCache::State::reclaim() {
  env.write([&](MDB_txn* txn) {
    static char name[] = "reclaimed";
    std::int64_t time = now();
    MDB_val key{sizeof name - 1, name};
    MDB_val value{sizeof time, &time};
    env.check(::mdb_put(txn, tables.meta, &key, &value, 0), "reclaim");
  });
  env.sync();
  std::uint64_t erased = 0;
  env.look_exclusively([&](MDB_txn*) {
    const ReadTransaction txn(env);
    const auto pages = free_pages(env, txn, last_unreadable_commit(env));
    erase_pages(env.data_fd(), pages, env.page_bytes());
    erased = pages.size() * env.page_bytes();
  });
  env.sync();
  return erased;
}

}  // namespace moil::cache
