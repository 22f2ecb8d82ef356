// Which versions of which models there are, and which is in service.
//
// A version is numbered and its row is 'incoming' before a worker writes the folder; it counts only
// once record() has run, after the folder was renamed into place. Numbers are not used twice.
// Every method is one transaction unless it says that it expects the caller's. Loop thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/json/fields.h"
#include "daemon/spec/state_layout.h"
#include "daemon/state/schema.h"
#include "daemon/state/withdrawals.h"
#include "datasets/identity/digest.h"

namespace moil::daemon {

struct ModelVersion {
  std::string model;
  std::int64_t version = 0;
  bool active = false;
  std::int64_t created_at = 0;
  std::optional<std::int64_t> parent;  // the version it was made from; rollback goes there
  std::optional<std::int64_t> job;     // that made it, which may be gone; none: imported
  std::string summary;
  Json metrics = Json::object();
  std::int64_t forgotten = 0;  // samples that it learned from and that were forgotten since
  bool pinned = false;         // stays, whatever the retention says
  std::optional<Withdrawal> withdrawn;  // it was rolled back from
};

// Where it stands in lists: "MODEL/VERSION".
[[nodiscard]] inline std::string place_of(const ModelVersion& v) {
  return v.model + "/" + std::to_string(v.version);
}

// Long lists of its metrics are left out: an imported model may have any number of labels.
Json to_json(const ModelVersion& version, const StateLayout& layout);

// Where a version comes from (provenance.h).
struct Provenance {
  Json record;        // null: not known, as of what was imported
  Json label_scores;  // what its night measured, by label; a list, or null
};

class ModelStore {
 public:
  ModelStore(Database& database, const StateLayout& layout) : db_(database), layout_(layout) {}

  std::vector<ModelVersion> list() const;  // recorded ones, by name and version
  std::vector<ModelVersion> versions(const std::string& model) const;      // kNotFound
  ModelVersion get(const std::string& model, std::int64_t version) const;  // kNotFound
  std::optional<ModelVersion> active(const std::string& model) const;

  // Takes the next number and makes the model's folder. Expects the caller's transaction if a
  // job is given.
  std::int64_t reserve(const std::string& model, std::optional<std::int64_t> parent,
                       std::optional<std::int64_t> job);
  // The folder is complete: the version becomes 'ready' and, if asked, the active one. Idempotent.
  // Expects the caller's transaction. kInternal if the folder is not there.
  void record(const std::string& model, std::int64_t version, const std::string& summary,
              const Json& metrics, bool activate);
  // The same, of what it was trained on. Expects the caller's transaction.
  void record_samples(const std::string& model, std::int64_t version,
                      std::span<const data::Digest> samples);
  // The versions that learned from them, by model and number; `forgotten` says so from now on.
  // Expects the caller's transaction.
  std::vector<std::pair<std::string, std::int64_t>> forget_samples(
      std::span<const data::Digest> samples);
  // The same, of how it came to be. Expects the caller's transaction.
  void record_provenance(const std::string& model, std::int64_t version,
                         const Provenance& provenance);
  Provenance provenance(const std::string& model, std::int64_t version) const;  // kNotFound
  // Removes a recorded version; what was made from it is its parent's then. Its folder is left to
  // the caller, who waits until the disk knows that it is needed no more. kNotFound;
  // kFailedPrecondition if it is in service, pinned, the anchor, or an unfinished job began with
  // it.
  void remove(const std::string& model, std::int64_t version);
  // The same of all of a model's versions, whatever state they are in; their numbers. Nothing is
  // left that knows the model but its jobs. kFailedPrecondition if one of these has not ended.
  std::vector<std::int64_t> remove_whole(const std::string& model);
  // Throws away what is in the model's folder and is of no version that there is.
  void remove_unknown_folders(const std::string& model);
  // Forgets a version that was never recorded, and removes its folders.
  void discard(const std::string& model, std::int64_t version);

  // Jobs of the model that have begun lose their base: they begin anew from this one
  // (JobStore::prepare). kNotFound.
  void activate(const std::string& model, std::int64_t version);
  // Activates the parent of the active version, as activate() does, and withdraws the active one:
  // it is no anchor any more, and no night promotes the same weights again. kFailedPrecondition
  // if it has no parent.
  ModelVersion rollback(const std::string& model, const Withdrawal& withdrawal);
  // Digests of weights that no night of the model may promote.
  std::vector<WithdrawnWeights> withdrawn_weights(const std::string& model) const;
  void pin(const std::string& model, std::int64_t version, bool pinned);  // kNotFound

  // The version that no night from `base` on may fall far behind (night/judge/guard.h): the one
  // that the user named, else the imported one that `base` comes from.
  struct Anchor {
    std::int64_t version = 0;
    bool named = false;
  };
  Anchor anchor(const std::string& model, std::int64_t base) const;
  // kNotFound. Until another is named, or a model is imported and put in service.
  void name_anchor(const std::string& model, std::int64_t version);
  // Expects the caller's transaction.
  void forget_anchor(const std::string& model);

  // After a crash: removes what no unfinished job is going to complete, rows and folders.
  void recover();

 private:
  std::vector<ModelVersion> query(const std::string& where, const std::string& model,
                                  std::int64_t version) const;
  void require_unused(const ModelVersion& version) const;
  void set_active(const std::string& model, std::int64_t version);
  void choose(const std::string& model, std::int64_t version);
  void drop_abandoned_rows();

  Database& db_;
  const StateLayout layout_;
};

}  // namespace moil::daemon
