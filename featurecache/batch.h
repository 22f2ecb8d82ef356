// Encoded entries that wait for the next commit.
//
// One arena and one list, reused from batch to batch. Kept until the commit has succeeded, since a
// full map makes it run again. Not thread-safe: the cache holds its batch mutex.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "featurecache/key.h"
#include "featurecache/value.h"

namespace moil::cache {

class Batch {
 public:
  struct Entry {
    FeatureKey key;
    std::size_t offset;
    std::size_t bytes;
  };

  void add(const FeatureKey& key, StoredType type, std::span<const float> elements) {
    const std::size_t offset = arena_.size();
    const std::size_t bytes = value_bytes(type, elements.size());
    arena_.resize(offset + bytes);
    encode_value(encode(key), type, elements, arena_.data() + offset);
    entries_.push_back({key, offset, bytes});
  }
  void drop(const SampleDigest& sample) {
    std::erase_if(entries_, [&](const Entry& entry) { return entry.key.sample == sample; });
  }
  void clear() {
    arena_.clear();
    entries_.clear();
  }
  std::span<const std::uint8_t> value(const Entry& entry) const {
    return {arena_.data() + entry.offset, entry.bytes};
  }
  const std::vector<Entry>& entries() const { return entries_; }
  std::size_t bytes() const { return arena_.size(); }
  bool empty() const { return entries_.empty(); }

 private:
  std::vector<std::uint8_t> arena_;
  std::vector<Entry> entries_;
};

}  // namespace moil::cache
