#include "featurecache/freelist.h"

#include <algorithm>
#include <cstring>

namespace moil::cache {
namespace {

constexpr MDB_dbi kFreeTable = 0;
constexpr MDB_dbi kMainTable = 1;

// Calls visit(commit, count, numbers) for every record; numbers may be unaligned.
template <typename Visit>
void for_each_record(const Environment& env, const ReadTransaction& txn, const Visit& visit) {
  const Cursor cursor(env, txn.get(), kFreeTable);
  MDB_val key{};
  MDB_val value{};
  int rc = 0;
  while ((rc = ::mdb_cursor_get(cursor.get(), &key, &value, MDB_NEXT)) == 0) {
    std::size_t commit = 0;
    std::size_t count = 0;
    if (key.mv_size != sizeof commit || value.mv_size < sizeof count)
      env.fail(MDB_CORRUPTED, "read");
    std::memcpy(&commit, key.mv_data, sizeof commit);
    std::memcpy(&count, value.mv_data, sizeof count);
    if (count > value.mv_size / sizeof(std::size_t) - 1) env.fail(MDB_CORRUPTED, "read");
    visit(commit, count, static_cast<const std::uint8_t*>(value.mv_data) + sizeof count);
  }
  if (rc != MDB_NOTFOUND) env.fail(rc, "read");
}

}  // namespace

std::vector<std::uint64_t> free_pages(const Environment& env, const ReadTransaction& txn,
                                      std::uint64_t last_commit) {
  std::vector<std::uint64_t> pages;
  for_each_record(env, txn, [&](std::size_t commit, std::size_t count, const std::uint8_t* from) {
    for (std::size_t i = 0; commit <= last_commit && i < count; ++i) {
      std::size_t page = 0;
      std::memcpy(&page, from + i * sizeof page, sizeof page);
      pages.push_back(page);
    }
  });
  std::sort(pages.begin(), pages.end());
  return pages;
}

std::uint64_t count_free_pages(const Environment& env, const ReadTransaction& txn) {
  std::uint64_t total = 0;
  for_each_record(env, txn,
                  [&](std::size_t, std::size_t count, const std::uint8_t*) { total += count; });
  return total;
}

std::uint64_t count_leaked_pages(const Environment& env, const ReadTransaction& txn,
                                 const Tables& tables) {
  std::uint64_t known = kMetaPages + count_free_pages(env, txn);
  for (const MDB_dbi table : {kFreeTable, kMainTable, tables.meta, tables.models, tables.entries}) {
    MDB_stat stat{};
    env.check(::mdb_stat(txn.get(), table, &stat), "read");
    known += stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages;
  }
  MDB_envinfo info{};
  env.check(::mdb_env_info(env.get(), &info), "read");
  const std::uint64_t pages = info.me_last_pgno + 1;
  return pages > known ? pages - known : 0;
}

}  // namespace moil::cache
