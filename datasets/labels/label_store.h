// The local dataset D_L as the user builds it: samples, their labels, which are held out, and how
// local labels map to global ones. SQLite in WAL mode in a private folder; larger samples as files.
//
//   <folder>/labels.db   rows, and the content of samples up to kInlineBytes
//   <folder>/files/      the content of larger ones (sample_files.h)
//   <folder>/lock        held by the one process that writes
//
// Durable: when a call that changes something returns, the change survives kill -9 and power loss;
// when it throws, nothing has changed (unless a forgotten sample's file could not be removed: it
// goes when the store is next opened). One process writes (a second gets kAlreadyExists); any
// number open kReadOnly and read beside it, and wait for no writer. All methods may be called from
// any thread. Nothing here parses a sample: the content is bytes.
//
// Forgetting: the rows go first, and in the same transaction the samples are noted as forgetting();
// their files go next. Whoever keeps something of a sample elsewhere (feature maps, reports)
// removes that and calls forgotten(). So a crash at any point leaves a sample that is either still
// there or noted, and what is noted is finished when the store is next opened.
//
// Steps: what changes which labels samples have, or what labels mean, can be undone, the last first
// (label_journal.h). Calls in a row that give the same `step` are one.
//
// Changes: every sample that is added, gets other labels, or whose labels are called or mapped
// otherwise, whatever did that, is among changes().
//
// Names of labels are normal (text.h) wherever they are given.
//
// Splits: what is held out follows from what is there, not from the order in which it came
// (sides.h): a fifth by content, something of every label learned from, and one held out at least
// of a label of five samples or more. What the user chose stays, and what a night may have trained
// on is never held out.
//
// Scenes: samples that nights use and that look alike, and pieces of a recording with the recording
// itself (scene_division.h), lie on one side (but what the user holds out: data::mix() passes that
// over).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files/unique_fd.h"
#include "base/sqlite/database.h"
#include "datasets/labels/label_change.h"
#include "datasets/labels/label_types.h"
#include "datasets/labels/sample_files.h"
#include "datasets/labels/samples.h"
#include "datasets/labels/scenes.h"
#include "datasets/labels/steps.h"

namespace moil::data {

class LabelStore {
 public:
  using Access = Database::Access;

  // Creates what is missing (kReadWrite) and removes orphaned files. kNotFound (kReadOnly, nothing
  // there), kAlreadyExists (another writer), kUnimplemented (a newer format).
  LabelStore(const std::filesystem::path& folder, Access access);
  ~LabelStore();
  LabelStore(const LabelStore&) = delete;
  LabelStore& operator=(const LabelStore&) = delete;

  // Adds a copy of the content under its labels, which are created as needed. Idempotent by
  // content; kAlreadyExists if the content is there with other labels (relabel() changes them),
  // kBadData if it is empty; of which media samples are, callers say. `name`: of its file, as the
  // user knows it; a sample that has none yet gets it. No labels: what it is, somebody says later;
  // a sample that has none yet gets them. `recording`: of which it is a piece, by the digest of all
  // of it; be that a sample or not.
  AddedSample add_sample(std::span<const std::uint8_t> content, std::span<const std::string> labels,
                         std::optional<Split> split = {}, std::string_view name = {},
                         std::string_view step = {}, const std::optional<Digest>& recording = {});
  AddedSample add_file(const std::filesystem::path& file, std::span<const std::string> labels,
                       std::optional<Split> split = {});
  // Replaces the sample's labels; kNotFound.
  void relabel(const Digest& digest, std::span<const std::string> labels,
               std::string_view step = {});
  // The same for several at once, and labels may be none; how many it changes. kNotFound if one
  // is not there: then none is changed.
  std::size_t assign(std::span<const Digest> samples, std::span<const std::string> labels,
                     std::string_view step = {});
  // Removes rows and files, and wipes them from the database. What is being forgotten already is
  // fine, so that an attempt that failed half-way can be repeated; else kNotFound: then none is
  // forgotten.
  void forget(std::span<const Digest> digests);
  void forget(const Digest& digest) { forget({&digest, 1}); }
  // Samples that are gone from here, and of which others may still have something.
  [[nodiscard]] std::vector<ForgottenSample> forgetting() const;
  // They have nothing any more: the store forgets that it knew them.
  void forgotten(std::span<const ForgottenSample> samples);

  [[nodiscard]] std::vector<SampleRecord> samples(const SampleQuery& query = {}) const;
  [[nodiscard]] std::optional<SampleRecord> find(const Digest& digest) const;
  [[nodiscard]] bool has(const Digest& digest) const;
  [[nodiscard]] bool has_all(std::span<const Digest> digests) const;
  // The ids of all samples that have labels, in their order.
  [[nodiscard]] std::vector<std::int64_t> labelled_ids() const;
  // Another number after whatever another connection to the store has changed.
  [[nodiscard]] std::int64_t data_version() const;
  // What samples look like, of which that is not known yet. Those that are gone are passed over.
  void record_likenesses(std::span<const SampleLikeness> samples);
  // A night is about to use these, all of them: with that comes which are of one scene and on which
  // side of the split it lies, and what is trained on is never held out from then on. Samples that
  // are gone are passed over.
  void record_uses(std::span<const Digest> samples);
  // The largest id of a sample; 0 if there is none.
  [[nodiscard]] std::int64_t newest_id() const;
  // The number of the latest change; 0: none.
  [[nodiscard]] std::int64_t newest_change() const;
  // Other than before if somebody else than this store has changed anything meanwhile.
  [[nodiscard]] std::int64_t state_number() const;
  // Samples that changed after that number, each with its latest change, in the order of these.
  [[nodiscard]] std::vector<SampleChange> changes(std::int64_t after, std::size_t limit) const;
  [[nodiscard]] StoreCounts counts() const;
  // One consistent view of all samples (or those of a split) in the order of their ids.
  void for_each_sample(std::optional<Split> split,
                       const std::function<void(const SampleRecord&)>& visit) const;
  // kNotFound; kBadData if the content no longer has the digest, or its file is gone.
  [[nodiscard]] std::vector<std::uint8_t> content(const Digest& digest) const;
  // The file of a sample that is larger than kInlineBytes, open for reading; not held against the
  // digest. kNotFound.
  [[nodiscard]] UniqueFd open_content(const Digest& digest) const;
  // Its first bytes, `most` at most, and the size of all; not held against the digest.
  [[nodiscard]] std::vector<std::uint8_t> content_head(const Digest& digest, std::size_t most,
                                                       std::uint64_t& size) const;

  [[nodiscard]] std::vector<LabelCount> labels() const;  // sorted by name
  // The same, those after the name, until `visit` returns false; it must not use the store.
  void for_each_label(const std::string& after,
                      const std::function<bool(const LabelCount&)>& visit) const;
  // Before labels are created: throws OtherCase for one of these names that is no label yet and
  // differs in case alone from one that is, or from another of them; but not from `gone`, which is
  // to go.
  void check_case(std::span<const std::string> names, const std::string& gone = {}) const;
  // kAlreadyExists if there is a label of that name, or samples that are denied it.
  void rename_label(const std::string& from, const std::string& to);
  // Gives the samples of a label, and what it means, to another, which is created as needed, and
  // removes it; how many samples that were. kNotFound, kInvalidArgument.
  std::size_t merge_label(const std::string& from, const std::string& into,
                          std::string_view step = {});
  // Removes a label. kFailedPrecondition if samples carry it, or are denied it, unless
  // with_samples: then samples that carry nothing else are forgotten (as forget() does), and
  // returned.
  std::vector<Digest> remove_label(const std::string& name, bool with_samples = false,
                                   std::string_view step = {});
  // Takes back what was done last (label_journal.h), or what was done under the name `step`, of
  // which that stays which others changed since. What is forgotten does not come back. Samples that
  // were added are forgotten, as forget() does, but only with_samples: else WouldForget.
  // kFailedPrecondition: there is nothing to undo. When it throws, nothing has changed.
  UndoneStep undo(std::string_view step = {}, bool with_samples = false);

  [[nodiscard]] Reconciliation reconciliation() const;
  // Replaces the map of one local label, which is created as needed; empty removes the entry.
  void set_reconciliation(const std::string& label, std::span<const std::string> global_labels);

 private:
  class WriterLock {
   public:
    WriterLock(const std::filesystem::path& folder, Access access);
    ~WriterLock();
    WriterLock(const WriterLock&) = delete;
    WriterLock& operator=(const WriterLock&) = delete;

   private:
    int fd_ = -1;
  };

  void configure(Access access);
  void remove_orphans();
  // The rest expects mutex_ held.
  AddedSample add_known(const SampleRecord& present, std::span<const std::string> labels,
                        std::string_view name, std::string_view step,
                        const std::optional<Digest>& recording);
  void commit(LabelChange& change);
  void wipe();

  WriterLock lock_;
  SampleFiles files_;
  mutable std::mutex mutex_;  // guards database_
  mutable Database database_;
  Samples samples_{database_};
  Scenes scenes_{database_, samples_};
  Steps steps_{database_, samples_};
};

}  // namespace moil::data
