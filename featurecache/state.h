// What a FeatureCache is made of; for the .cc files of this folder only.
//
// Lock order: batch_mutex, then the environment's locks; models_mutex and damaged_mutex are leaves.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "featurecache/batch.h"
#include "featurecache/cache.h"
#include "featurecache/environment.h"
#include "featurecache/ledger.h"
#include "featurecache/tables.h"

namespace moil::cache {

struct FeatureCache::State {
  State(const std::filesystem::path& folder, Options with);

  std::int64_t now() const;
  std::optional<std::uint64_t> free_bytes() const;
  void require_writable() const;

  // state.cc
  bool is_protected(const ModelId& id);
  std::string description_of(const ModelId& id);
  // The value found under the key, checked, good until the next one is looked up; a damaged one is
  // noted and counts as absent.
  [[nodiscard]] bool look_up(ReadTransaction& txn, const FeatureKey& key, ValueView& view);
  void note_damaged(const FeatureKey& key);
  std::vector<FeatureKey> damaged_keys();

  // commit.cc; batch_mutex is held
  void commit_batch();
  // What the entries' bytes may be now; none: no limit.
  struct Limit {
    std::optional<std::uint64_t> bytes;
    std::string name;  // "the quota of 100 bytes"
  };
  Limit limit();
  std::uint64_t unused_bytes(const ReadTransaction& txn);
  void make_room(const Limit& limit);
  struct Refusal {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;  // what they would have occupied
    std::uint64_t held = 0;   // what the cache holds now
  };
  void store_batch(MDB_txn* txn, Ledger& ledger, const Limit& limit, Refusal& refusal);
  void remove_damaged(MDB_txn* txn, Ledger& ledger, const std::vector<FeatureKey>& keys);

  // removal.cc
  std::vector<ModelId> stored_models(MDB_txn* txn);
  // Removes up to limit entries whose encoded key begins with prefix; true: none is left.
  bool remove_range(MDB_txn* txn, Ledger& ledger, std::span<const std::uint8_t> prefix,
                    std::uint64_t limit, Removed& removed);
  // Every view under every model.
  void remove_samples(MDB_txn* txn, std::span<const SampleDigest> samples, Removed& removed);
  // In commits of a thousand entries, then its record. base and total are for watch alone.
  Removed remove_model(const ModelId& id, const Watch& watch, std::uint64_t base,
                       std::uint64_t total);

  // reclaim.cc
  std::uint64_t reclaim();

  const Options options;
  Environment env;
  Tables tables;

  std::mutex batch_mutex;
  Batch batch;  // guarded by batch_mutex

  std::mutex models_mutex;
  std::map<ModelId, std::string> in_use;  // guarded by models_mutex; protected, with description

  std::mutex damaged_mutex;
  std::vector<FeatureKey> damaged;  // guarded by damaged_mutex; never beyond its first capacity
  std::atomic<std::uint64_t> damaged_seen = 0;
};

}  // namespace moil::cache
