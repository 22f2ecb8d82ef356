// Readers: one snapshot a call.
#include <string>

#include "base/error.h"
#include "featurecache/cache.h"
#include "featurecache/state.h"

namespace moil::cache {
namespace {

void check_elements(const FeatureKey& key, std::size_t stored, std::size_t expected) {
  if (stored == expected) return;
  throw Error(ErrorCode::kInvalidArgument, "feature cache: " + to_string(key) + " has " +
                                               std::to_string(stored) + " elements, not " +
                                               std::to_string(expected));
}

void check_flags(std::size_t keys, std::size_t flags) {
  if (keys == flags) return;
  throw Error(ErrorCode::kInvalidArgument, "feature cache: " + std::to_string(flags) +
                                               " flags for " + std::to_string(keys) + " keys");
}

}  // namespace

void FeatureCache::gather(std::span<const FeatureKey> keys, float* out,
                          std::size_t elements_per_sample) {
  ReadTransaction txn(state_->env);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ValueView view{};
    if (!state_->look_up(txn, keys[i], view)) {
      throw Error(ErrorCode::kNotFound, "feature cache: no feature map for " + to_string(keys[i]) +
                                            " (row " + std::to_string(i) + " of " +
                                            std::to_string(keys.size()) + ")");
    }
    check_elements(keys[i], view.elements, elements_per_sample);
    expand(view, out + i * elements_per_sample);
  }
}

std::size_t FeatureCache::find(std::span<const FeatureKey> keys, float* out,
                               std::size_t elements_per_sample, std::span<std::uint8_t> found) {
  check_flags(keys.size(), found.size());
  ReadTransaction txn(state_->env);
  std::size_t count = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ValueView view{};
    found[i] = state_->look_up(txn, keys[i], view);
    if (!found[i]) continue;
    check_elements(keys[i], view.elements, elements_per_sample);
    expand(view, out + i * elements_per_sample);
    ++count;
  }
  return count;
}

std::size_t FeatureCache::contains(std::span<const FeatureKey> keys,
                                   std::span<std::uint8_t> present, Depth depth) {
  check_flags(keys.size(), present.size());
  ReadTransaction txn(state_->env);
  std::size_t count = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (depth == Depth::kChecksum) {
      ValueView view{};
      present[i] = state_->look_up(txn, keys[i], view);
    } else {
      const EncodedKey encoded = encode(keys[i]);
      MDB_val name = to_val(encoded);
      MDB_val value{};
      const int rc = ::mdb_get(txn.get(), state_->tables.entries, &name, &value);
      if (rc != MDB_NOTFOUND) state_->env.check(rc, "read");
      present[i] = rc == 0;
    }
    count += present[i];
  }
  return count;
}

}  // namespace moil::cache
