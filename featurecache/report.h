// What the cache tells about itself, and how long work on it is watched and stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "featurecache/key.h"

namespace moil::cache {

struct ModelStats {
  ModelId id;
  std::string description;
  std::int64_t created = 0;    // seconds since 1970
  std::int64_t last_used = 0;  // the same
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;  // occupied in the data file, padding included
};

struct CacheStats {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;         // of all entries; what the quota limits
  std::uint64_t quota_bytes = 0;   // 0: no quota
  std::uint64_t map_bytes = 0;     // address space, not memory and not disk
  std::uint64_t file_bytes = 0;    // length of data.mdb; never shrinks
  std::uint64_t disk_bytes = 0;    // of it, what the file system has allocated
  std::uint64_t free_bytes = 0;    // pages in the file that hold nothing and will be used again
  std::uint64_t damaged_seen = 0;  // entries that failed their checksum since open()
  std::vector<ModelStats> models;
};

struct BadEntry {
  FeatureKey key;
  std::string what;
};

struct VerifyReport {
  std::uint64_t entries = 0;           // looked at
  std::uint64_t bad_entries = 0;       // of these
  std::uint64_t leaked_pages = 0;      // pages neither used nor free: lost space, no wrong data
  std::vector<BadEntry> bad;           // the first kMaxListed of them
  std::vector<std::string> structure;  // counts that do not match, damaged records
  std::uint64_t repaired = 0;          // entries removed; counts and records are put right as well
  bool ok() const { return bad_entries == 0 && structure.empty(); }

  static constexpr std::size_t kMaxListed = 100;
};

struct Removed {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
};

// Long work: progress(done, total) is called from the working thread every thousand entries or so;
// a requested stop ends it with kCancelled. What was done until then stays done and is consistent.
struct Watch {
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
  std::stop_token stop = {};

  // Throws kCancelled or reports.
  void step(std::uint64_t done, std::uint64_t total) const;
};

}  // namespace moil::cache
