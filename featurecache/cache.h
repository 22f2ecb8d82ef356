// FeatureCache: feature maps of frozen layers, kept on disk across nights.
//
// The backbone of a personalized network is frozen, so its output for a sample never changes: it is
// computed once and found here in every later epoch and night (feature map caching; the thesis's
// FMC). It is a cache: it may lose its newest entries in a crash, and never serves a wrong one.
//
//   FeatureCache cache("/var/lib/moild/features", {.quota_bytes = 1 << 30});
//   const ModelId model = model_id(backbone_fingerprint, preprocessing_fingerprint);
//   cache.use_model(model, "mobilenet_v2 up to block 16, fp32");
//   cache.put({model, sample_digest(bytes)}, features);
//   cache.flush();
//   cache.gather(keys, batch.data(), elements);   // rows of batch, in the keys' order
//
// Threads: every method may be called from any thread at any time. Readers (gather, find, contains,
// stats) never wait for a writer, but for the moment in which the map grows; writers wait for each
// other. Several processes may open one folder; one process must open it once and share the object.
// Not usable in a child after fork().
//
// Errors: moil::Error. kResourceExhausted: quota; DiskFull (base/files/disk_full.h);
// kFailedPrecondition: read-only, another format version, open twice; kBadData: the file's
// structure is damaged; kIo: the system refused. What is damaged or of another format is thrown as
// Unusable: discard() it (discard.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "featurecache/key.h"
#include "featurecache/report.h"
#include "featurecache/value.h"

namespace moil::cache {

// About so much of the map at most stays resident for having been read or written.
inline constexpr std::size_t kMostResidentBytes = 4 << 20;

struct Options {
  std::uint64_t quota_bytes = 0;              // limit of the entries' bytes on disk; 0: none
  std::uint64_t leave_free_bytes = 0;         // the file does not grow if less is free
  std::uint64_t initial_map_bytes = 1 << 26;  // address space to begin with; grows as needed
  bool read_only = false;                     // nothing is created or changed
  bool evicts = true;  // false: what others have stored stays, and put() takes what room is left
  StoredType stored_as = StoredType::kFp32;  // for put(); either kind is read
  std::size_t batch_bytes = 4 << 20;         // put() commits when this much has gathered
  std::size_t batch_entries = 1024;          // ... or this many
  std::function<std::int64_t()> clock = {};  // seconds since 1970; the system's if empty
  // Asked of each waiting entry's sample within the transaction that would store it: false drops
  // the entry. Whoever forgets a sample makes this false first and calls forget() then, and no
  // writer that asks, in whatever process, stores anything of it afterwards. Empty: all are stored.
  std::function<bool(const SampleDigest&)> may_store = {};
  // Room on the file system; the system's if empty.
  std::function<std::optional<std::uint64_t>()> free_bytes = {};
};

enum class Depth { kPresence, kChecksum };

class FeatureCache {
 public:
  explicit FeatureCache(const std::filesystem::path& folder, Options options = {});
  ~FeatureCache();  // flushes; if that fails, the waiting entries are lost: call flush() to know
  FeatureCache(const FeatureCache&) = delete;
  FeatureCache& operator=(const FeatureCache&) = delete;

  // --- models -----------------------------------------------------------------------------------
  // Records that the model is used now, and protects its entries from eviction by this object.
  // kFailedPrecondition if the id is recorded under another description (hashes collided, or
  // the description belongs into the fingerprint). On a read-only cache: checks alone.
  void use_model(const ModelId& id, std::string_view description);
  // Protects without recording a use: models other than the one at work that are still current.
  void protect(std::span<const ModelId> ids);

  // What put() stores elements as, and so what readers find (round_as_stored()).
  [[nodiscard]] StoredType stored_as() const;

  // --- writing ----------------------------------------------------------------------------------
  // Encodes and queues; commits when a batch is full. Replaces an entry of the same key. Visible to
  // readers after the commit. If the quota is reached, or no more than leave_free_bytes would
  // stay free on the disk, models that nobody protects are evicted, least recently used first; if
  // that does not do, what fits is stored, the rest of the batch is dropped and kResourceExhausted
  // names both numbers. A full disk drops the batch; the cache stays usable.
  void put(const FeatureKey& key, std::span<const float> elements);
  // Commits what waits. An acknowledged flush survives kill -9; a power cut can undo it.
  void flush();

  // --- reading ----------------------------------------------------------------------------------
  // Copies each key's elements to a row of out: keys.size() x elements_per_sample floats, expanded
  // from bf16 if stored so, straight from the map, all of one snapshot. Allocates nothing.
  // kNotFound if a key is missing or its value damaged, kInvalidArgument if its element count
  // is another; out is unspecified then.
  void gather(std::span<const FeatureKey> keys, float* out, std::size_t elements_per_sample);
  // The same, but tells: found[i] is 1 and row i is written, or 0 and row i is untouched. Returns
  // the number found. found.size() == keys.size().
  std::size_t find(std::span<const FeatureKey> keys, float* out, std::size_t elements_per_sample,
                   std::span<std::uint8_t> found);
  // Which keys are stored: at kPresence by key alone, at kChecksum reading every value (which also
  // brings it into the page cache). A damaged entry is absent, and removed by the next commit.
  std::size_t contains(std::span<const FeatureKey> keys, std::span<std::uint8_t> present,
                       Depth depth = Depth::kPresence);

  // --- upkeep -----------------------------------------------------------------------------------
  CacheStats stats();
  // Reads every entry and recounts every model. With repair: bad entries are removed, counts and
  // damaged records put right.
  VerifyReport verify(bool repair = false, const Watch& watch = {});
  // Removes every model that is neither in in_use nor protected, and gives the space back.
  Removed gc(std::span<const ModelId> in_use, const Watch& watch = {});
  // Removes the samples under every model and view, makes that durable, and erases the pages that
  // held them (reclaim), and what is left of keys and values in the unused parts of others. Waiting
  // entries of these samples are dropped as well. What a reader in another process holds back, the
  // next forget() erases.
  Removed forget(std::span<const SampleDigest> samples);
  Removed forget(const SampleDigest& sample) { return forget(std::span(&sample, 1)); }
  // Gives free pages back to the file system: their content is erased, data.mdb keeps its length.
  // Returns the bytes of pages erased; pages that another process still reads are left for later.
  std::uint64_t reclaim();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace moil::cache
