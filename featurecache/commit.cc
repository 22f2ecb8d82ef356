// The one place where entries are written: a batch, its quota, one transaction.
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.h"
#include "featurecache/freelist.h"
#include "featurecache/state.h"

namespace moil::cache {
namespace {

// A batch leaves the queue whatever becomes of it: a cache may lose its newest entries, and a
// failing one must not fail again and again.
class ClearAtEnd {
 public:
  explicit ClearAtEnd(Batch& batch) : batch_(batch) {}
  ~ClearAtEnd() { batch_.clear(); }
  ClearAtEnd(const ClearAtEnd&) = delete;
  ClearAtEnd& operator=(const ClearAtEnd&) = delete;

 private:
  Batch& batch_;
};

// So much free disk above the floor holds a batch with LMDB's own pages for it.
constexpr std::uint64_t kFarFromFloor = 64 << 20;

// When a model was used last. A stamp that lies ahead was made by a clock that was wrong, and
// tells nothing.
std::int64_t recency(std::int64_t last_used, std::int64_t now) {
  constexpr std::int64_t kDay = 86400;
  return last_used > now + kDay ? 0 : last_used;
}

}  // namespace

void FeatureCache::State::commit_batch() {
  const ClearAtEnd clear(batch);
  const std::vector<FeatureKey> suspects = damaged_keys();
  if (batch.empty() && suspects.empty()) return;
  const Limit most = limit();
  make_room(most);
  Refusal refusal;
  env.write([&](MDB_txn* txn) {
    refusal = {};
    Ledger ledger(env, txn, tables);
    remove_damaged(txn, ledger, suspects);
    store_batch(txn, ledger, most, refusal);
    ledger.save();
  });
  if (refusal.entries == 0) return;
  throw Error(ErrorCode::kResourceExhausted,
              "feature cache: " + most.name + " is reached: " + std::to_string(refusal.held) +
                  " bytes are held by models in use, " + std::to_string(refusal.bytes) +
                  " more are needed for " + std::to_string(refusal.entries) +
                  " feature maps, which were not stored");
}

// Near the disk's floor, the file may use what it has, and grow by what is free above the floor.
FeatureCache::State::Limit FeatureCache::State::limit() {
  Limit limit;
  if (options.quota_bytes != 0) {
    limit.bytes = options.quota_bytes;
    limit.name = "the quota of " + std::to_string(options.quota_bytes) + " bytes";
  }
  const auto free = free_bytes();
  const std::uint64_t floor = options.leave_free_bytes;
  if (floor == 0 || !free || *free >= floor + kFarFromFloor + 2 * batch.bytes()) return limit;
  const ReadTransaction txn(env);
  const std::uint64_t held = Ledger(env, txn.get(), tables).total_bytes();
  const std::uint64_t unused = unused_bytes(txn);
  const std::uint64_t most = held + unused + (*free > floor ? *free - floor : 0);
  const std::uint64_t lacking = *free < floor ? floor - *free : 0;
  const std::uint64_t by_disk = most - std::min(most, lacking);
  if (limit.bytes && *limit.bytes <= by_disk) return limit;
  limit.bytes = by_disk;
  limit.name = "what the disk allows (" + std::to_string(*free) + " bytes are free, " +
               std::to_string(floor) + " are to stay free)";
  return limit;
}

// Pages that the file has and no entry uses; those that were given back to the file system are not
// there.
std::uint64_t FeatureCache::State::unused_bytes(const ReadTransaction& txn) {
  struct stat file {};
  if (::fstat(env.data_fd(), &file) != 0) return 0;
  MDB_envinfo info{};
  env.check(::mdb_env_info(env.get(), &info), "use");
  const std::uint64_t pages = info.me_last_pgno + 1 - count_free_pages(env, txn);
  const std::uint64_t on_disk = static_cast<std::uint64_t>(file.st_blocks) * 512;
  return on_disk - std::min(on_disk, pages * env.page_bytes());
}

// Evicts before the batch's own transaction: a large model goes in many small commits.
void FeatureCache::State::make_room(const Limit& limit) {
  if (!limit.bytes || !options.evicts) return;
  std::uint64_t needed = 0;
  std::set<ModelId> writing;
  for (const Batch::Entry& entry : batch.entries()) {
    needed += charge(entry.bytes, env.page_bytes(), encode(entry.key).size());
    writing.insert(entry.key.model);
  }
  std::vector<std::pair<std::int64_t, ModelId>> victims;
  {
    const ReadTransaction txn(env);
    const Ledger ledger(env, txn.get(), tables);
    needed += ledger.total_bytes();
    if (needed <= *limit.bytes) return;
    for (const auto& [id, record] : ledger.models()) {
      if (!writing.contains(id) && !is_protected(id))
        victims.emplace_back(recency(record.last_used, now()), id);
    }
  }
  std::sort(victims.begin(), victims.end());
  for (const auto& [last_used, id] : victims) {
    if (needed <= *limit.bytes) return;
    needed -= std::min(needed, remove_model(id, {}, 0, 0).bytes);
  }
}

void FeatureCache::State::store_batch(MDB_txn* txn, Ledger& ledger, const Limit& limit,
                                      Refusal& refusal) {
  for (const Batch::Entry& entry : batch.entries()) {
    if (options.may_store && !options.may_store(entry.key.sample)) continue;
    const EncodedKey encoded = encode(entry.key);
    MDB_val key = to_val(encoded);
    MDB_val value{};
    env.touched();
    const int rc = ::mdb_get(txn, tables.entries, &key, &value);
    if (rc != MDB_NOTFOUND) env.check(rc, "write");
    const std::uint64_t page = env.page_bytes();
    const std::uint64_t before = rc == 0 ? charge(value.mv_size, page, encoded.size()) : 0;
    const std::uint64_t after = charge(entry.bytes, page, encoded.size());
    if (after > before && limit.bytes && ledger.total_bytes() - before + after > *limit.bytes) {
      ++refusal.entries;
      refusal.bytes += after;
      continue;
    }
    value = {entry.bytes, nullptr};
    env.check(::mdb_put(txn, tables.entries, &key, &value, MDB_RESERVE), "write");
    std::memcpy(value.mv_data, batch.value(entry).data(), entry.bytes);
    if (rc == 0) ledger.subtract(entry.key.model, before);
    ledger.add(entry.key.model, after);
  }
  refusal.held = ledger.total_bytes();
  std::set<ModelId> written;
  for (const Batch::Entry& entry : batch.entries()) {
    if (!written.insert(entry.key.model).second) continue;
    ModelRecord record = ledger.touch(entry.key.model, now());
    if (record.created == 0) record.created = now();
    if (record.description.empty()) record.description = description_of(entry.key.model);
    ledger.replace(entry.key.model, std::move(record));
  }
}

// Only those that are still bad: another writer may have replaced them.
void FeatureCache::State::remove_damaged(MDB_txn* txn, Ledger& ledger,
                                         const std::vector<FeatureKey>& keys) {
  for (const FeatureKey& damaged_key : keys) {
    const EncodedKey encoded = encode(damaged_key);
    MDB_val key = to_val(encoded);
    MDB_val value{};
    const int rc = ::mdb_get(txn, tables.entries, &key, &value);
    if (rc == MDB_NOTFOUND) continue;
    env.check(rc, "write");
    if (check_value(encoded, to_span(value))) continue;
    ledger.subtract(damaged_key.model, charge(value.mv_size, env.page_bytes(), encoded.size()));
    env.check(::mdb_del(txn, tables.entries, &key, nullptr), "write");
  }
}

}  // namespace moil::cache
