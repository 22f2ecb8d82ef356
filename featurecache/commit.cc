// The one place where entries are written: a batch, its quota, one transaction.
#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.h"
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

}  // namespace

void FeatureCache::State::commit_batch() {
  const ClearAtEnd clear(batch);
  const std::vector<FeatureKey> suspects = damaged_keys();
  if (batch.empty() && suspects.empty()) return;
  make_room();
  Refusal refusal;
  env.write([&](MDB_txn* txn) {
    refusal = {};
    Ledger ledger(env, txn, tables);
    remove_damaged(txn, ledger, suspects);
    store_batch(txn, ledger, refusal);
    ledger.save();
  });
  if (refusal.entries == 0) return;
  throw Error(ErrorCode::kResourceExhausted,
              "feature cache: the quota of " + std::to_string(options.quota_bytes) +
                  " bytes is reached: " + std::to_string(refusal.held) +
                  " bytes are held by models in use, " + std::to_string(refusal.bytes) +
                  " more are needed for " + std::to_string(refusal.entries) +
                  " feature maps, which were not stored; raise the quota or store bf16");
}

// Evicts before the batch's own transaction: a large model goes in many small commits.
void FeatureCache::State::make_room() {
  if (options.quota_bytes == 0) return;
  std::uint64_t needed = 0;
  std::set<ModelId> writing;
  for (const Batch::Entry& entry : batch.entries()) {
    needed += charge(entry.bytes, env.page_bytes());
    writing.insert(entry.key.model);
  }
  std::vector<std::pair<std::int64_t, ModelId>> victims;
  {
    const ReadTransaction txn(env);
    const Ledger ledger(env, txn.get(), tables);
    needed += ledger.total_bytes();
    if (needed <= options.quota_bytes) return;
    for (const auto& [id, record] : ledger.models()) {
      if (!writing.contains(id) && !is_protected(id)) victims.emplace_back(record.last_used, id);
    }
  }
  std::sort(victims.begin(), victims.end());
  for (const auto& [last_used, id] : victims) {
    if (needed <= options.quota_bytes) return;
    needed -= std::min(needed, remove_model(id, {}, 0, 0).bytes);
  }
}

void FeatureCache::State::store_batch(MDB_txn* txn, Ledger& ledger, Refusal& refusal) {
  for (const Batch::Entry& entry : batch.entries()) {
    if (options.may_store && !options.may_store(entry.key.sample)) continue;
    const EncodedKey encoded = encode(entry.key);
    MDB_val key = to_val(encoded);
    MDB_val value{};
    env.touched();
    const int rc = ::mdb_get(txn, tables.entries, &key, &value);
    if (rc != MDB_NOTFOUND) env.check(rc, "write");
    const std::uint64_t before = rc == 0 ? charge(value.mv_size, env.page_bytes()) : 0;
    const std::uint64_t after = charge(entry.bytes, env.page_bytes());
    if (options.quota_bytes != 0 && ledger.total_bytes() - before + after > options.quota_bytes) {
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
    ledger.subtract(damaged_key.model, charge(value.mv_size, env.page_bytes()));
    env.check(::mdb_del(txn, tables.entries, &key, nullptr), "write");
  }
}

}  // namespace moil::cache
