#include "featurecache/state.h"

#include <chrono>

#include "base/files/disk_full.h"

namespace moil::cache {
namespace {

constexpr std::size_t kRememberedDamage = 256;

}  // namespace

FeatureCache::State::State(const std::filesystem::path& folder, Options with)
    : options(std::move(with)),
      env(folder, options.initial_map_bytes, options.read_only),
      tables(open_tables(env, now())) {
  env.find_map();
  damaged.reserve(kRememberedDamage);
}

std::int64_t FeatureCache::State::now() const {
  if (options.clock) return options.clock();
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(since).count();
}

std::optional<std::uint64_t> FeatureCache::State::free_bytes() const {
  return options.free_bytes ? options.free_bytes() : free_disk_bytes(env.folder());
}

void FeatureCache::State::require_writable() const {
  if (!options.read_only) return;
  throw Error(ErrorCode::kFailedPrecondition,
              "the feature cache " + env.folder().string() + " was opened read-only");
}

bool FeatureCache::State::is_protected(const ModelId& id) {
  const std::lock_guard lock(models_mutex);
  return in_use.contains(id);
}

std::string FeatureCache::State::description_of(const ModelId& id) {
  const std::lock_guard lock(models_mutex);
  const auto at = in_use.find(id);
  return at == in_use.end() ? std::string() : at->second;
}

bool FeatureCache::State::look_up(ReadTransaction& txn, const FeatureKey& key, ValueView& view) {
  const EncodedKey encoded = encode(key);
  MDB_val name = to_val(encoded);
  MDB_val value{};
  const int rc = ::mdb_get(txn.get(), tables.entries, &name, &value);
  if (rc == MDB_NOTFOUND) return false;
  env.check(rc, "read");
  env.touched();
  const auto checked = check_value(encoded, txn.bytes_of(value));
  if (!checked) {
    note_damaged(key);
    return false;
  }
  view = *checked;
  return true;
}

void FeatureCache::State::note_damaged(const FeatureKey& key) {
  ++damaged_seen;
  const std::lock_guard lock(damaged_mutex);
  if (damaged.size() < damaged.capacity()) damaged.push_back(key);
}

std::vector<FeatureKey> FeatureCache::State::damaged_keys() {
  const std::lock_guard lock(damaged_mutex);
  std::vector<FeatureKey> keys = damaged;
  damaged.clear();  // keeps its capacity
  return keys;
}

}  // namespace moil::cache
