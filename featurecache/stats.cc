#include <sys/stat.h>

#include <cerrno>

#include "base/error.h"
#include "featurecache/cache.h"
#include "featurecache/freelist.h"
#include "featurecache/state.h"

namespace moil::cache {
namespace {

void add_file(const Environment& env, CacheStats& stats) {
  struct stat info {};
  if (::fstat(env.data_fd(), &info) != 0) {
    throw system_error("cannot stat the feature cache " + env.folder().string(), errno);
  }
  stats.file_bytes = static_cast<std::uint64_t>(info.st_size);
  stats.disk_bytes = static_cast<std::uint64_t>(info.st_blocks) * 512;
}

}  // namespace

CacheStats FeatureCache::stats() {
  const Environment& env = state_->env;
  CacheStats stats;
  stats.quota_bytes = state_->options.quota_bytes;
  stats.damaged_seen = state_->damaged_seen;
  const ReadTransaction txn(state_->env);
  MDB_stat table{};
  env.check(::mdb_stat(txn.get(), state_->tables.entries, &table), "read");
  stats.entries = table.ms_entries;
  const Ledger ledger(env, txn.get(), state_->tables);
  stats.bytes = ledger.total_bytes();
  for (const auto& [id, record] : ledger.models()) {
    stats.models.push_back(
        {id, record.description, record.created, record.last_used, record.entries, record.bytes});
  }
  stats.free_bytes = count_free_pages(env, txn) * env.page_bytes();
  stats.map_bytes = env.map_bytes();
  add_file(env, stats);
  return stats;
}

}  // namespace moil::cache
