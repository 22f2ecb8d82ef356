// What leaves the cache: models (gc, eviction) and samples (forget).
#include <algorithm>
#include <cstring>
#include <set>

#include "featurecache/slack.h"
#include "featurecache/state.h"

namespace moil::cache {
namespace {

constexpr std::uint64_t kEntriesPerCommit = 1024;
constexpr std::size_t kSamplesPerCommit = 64;  // each writes pages of its own, on a full disk too

bool begins_with(const MDB_val& key, std::span<const std::uint8_t> prefix) {
  return key.mv_size >= prefix.size() &&
         std::memcmp(key.mv_data, prefix.data(), prefix.size()) == 0;
}

// The model id behind this one in LMDB's order; false after the last.
bool advance(ModelId& id) {
  for (auto byte = id.bytes.rbegin(); byte != id.bytes.rend(); ++byte) {
    if (++*byte != 0) return true;
  }
  return false;
}

}  // namespace

// By what is stored, not by the table of models alone: a lost record must not hide entries.
std::vector<ModelId> FeatureCache::State::stored_models(MDB_txn* txn) {
  std::set<ModelId> found;
  const Ledger ledger(env, txn, tables);
  for (const auto& [id, record] : ledger.models()) found.insert(id);
  const Cursor cursor(env, txn, tables.entries);
  ModelId next;
  do {
    MDB_val key = to_val(next.bytes);
    MDB_val value{};
    const int rc = ::mdb_cursor_get(cursor.get(), &key, &value, MDB_SET_RANGE);
    if (rc == MDB_NOTFOUND) break;
    env.check(rc, "read");
    if (key.mv_size < next.bytes.size()) break;  // not one of ours; verify() reports it
    std::memcpy(next.bytes.data(), key.mv_data, next.bytes.size());
    found.insert(next);
  } while (advance(next));
  return {found.begin(), found.end()};
}

bool FeatureCache::State::remove_range(MDB_txn* txn, Ledger& ledger,
                                       std::span<const std::uint8_t> prefix, std::uint64_t limit,
                                       Removed& removed) {
  const Cursor cursor(env, txn, tables.entries);
  for (std::uint64_t n = 0; n < limit; ++n) {
    MDB_val key = to_val(prefix);
    MDB_val value{};
    const int rc = ::mdb_cursor_get(cursor.get(), &key, &value, MDB_SET_RANGE);
    if (rc == MDB_NOTFOUND) return true;
    env.check(rc, "remove from");
    if (!begins_with(key, prefix)) return true;
    ModelId owner;
    std::memcpy(owner.bytes.data(), key.mv_data, std::min(key.mv_size, owner.bytes.size()));
    const std::uint64_t bytes = charge(value.mv_size, env.page_bytes(), key.mv_size);
    env.touched();
    env.check(::mdb_cursor_del(cursor.get(), 0), "remove from");
    ledger.subtract(owner, bytes);
    ++removed.entries;
    removed.bytes += bytes;
  }
  return false;
}

Removed FeatureCache::State::remove_model(const ModelId& id, const Watch& watch, std::uint64_t base,
                                          std::uint64_t total) {
  Removed removed;
  for (bool done = false; !done;) {
    watch.step(base + removed.entries, total);
    Removed chunk;
    env.write([&](MDB_txn* txn) {
      chunk = {};
      Ledger ledger(env, txn, tables);
      done = remove_range(txn, ledger, id.bytes, kEntriesPerCommit, chunk);
      if (done) ledger.erase(id);
      ledger.save();
    });
    removed.entries += chunk.entries;
    removed.bytes += chunk.bytes;
  }
  return removed;
}

void FeatureCache::State::remove_samples(MDB_txn* txn, std::span<const SampleDigest> samples,
                                         Removed& removed) {
  Ledger ledger(env, txn, tables);
  for (const ModelId& model : stored_models(txn)) {
    for (const SampleDigest& sample : samples) {
      const EncodedKey first = encode({model, sample});
      const auto prefix = std::span(first).first(first.size() - sizeof(FeatureKey::view));
      remove_range(txn, ledger, prefix, ~std::uint64_t{0}, removed);
    }
  }
  ledger.save();
}

Removed FeatureCache::gc(std::span<const ModelId> in_use, const Watch& watch) {
  state_->require_writable();
  std::vector<ModelId> unused;
  std::uint64_t total = 0;
  {
    const ReadTransaction txn(state_->env);
    const Ledger ledger(state_->env, txn.get(), state_->tables);
    for (const ModelId& id : state_->stored_models(txn.get())) {
      const bool named = std::find(in_use.begin(), in_use.end(), id) != in_use.end();
      if (named || state_->is_protected(id)) continue;
      unused.push_back(id);
      const auto record = ledger.models().find(id);
      if (record != ledger.models().end()) total += record->second.entries;
    }
  }
  Removed removed;
  for (const ModelId& id : unused) {
    const Removed part = state_->remove_model(id, watch, removed.entries, total);
    removed.entries += part.entries;
    removed.bytes += part.bytes;
  }
  watch.step(removed.entries, removed.entries);
  if (!unused.empty()) state_->reclaim();
  return removed;
}

Removed FeatureCache::forget(std::span<const SampleDigest> samples) {
  state_->require_writable();
  const std::lock_guard lock(state_->batch_mutex);
  for (const SampleDigest& sample : samples) state_->batch.drop(sample);
  Removed removed;
  for (std::size_t done = 0; done < samples.size(); done += kSamplesPerCommit) {
    const auto some = samples.subspan(done, std::min(kSamplesPerCommit, samples.size() - done));
    Removed part;
    state_->env.write([&](MDB_txn* txn) {
      part = {};
      state_->remove_samples(txn, some, part);
    });
    removed.entries += part.entries;
    removed.bytes += part.bytes;
  }
  // Always, even if nothing was found: a crash may have come between these two steps before.
  state_->reclaim();
  state_->env.look_exclusively([&](MDB_txn*) { erase_slack(state_->env, state_->tables); });
  state_->env.sync();
  return removed;
}

}  // namespace moil::cache
