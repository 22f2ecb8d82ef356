// Where everything lies below the state folder (default /var/lib/moild, mode 0700):
//
//   lock                      held (flock) by the running daemon
//   reserve                   room kept for deletions on a full disk (state/disk_reserve.h)
//   lost-nights.json          nights without a start (state/lost_nights.h)
//   moild.db                  jobs, events, model versions (SQLite, WAL); the daemon's alone
//   labels/                   the label store (datasets/labels); daemon writes, worker reads
//   trash/                    what is to be removed, moved here first (state/trash.h)
//   cache/                    feature maps (LMDB); worker writes, daemon reads and collects
//   models/NAME/VERSION/      model.json weights.safetensors labels.json preprocessing.json
//   models/NAME/.incoming-VERSION/   a version being written; renamed when complete and fsynced
//   packs/NAME/               global packs that were copied here (docs/global-pack-format.md)
//   packs/.incoming-NAME-PID/ one on its way; renamed when it is whole
//   profiles/                 kernels.json: what computes fastest here; timing/NAME/: how long the
//                             steps of a model's training take (night/plan/timing_store.h);
//                             accuracy/NAME.json: of its versions (night/judge/accuracy_record.h);
//                             settings/NAME.json: what its nights chose (night/settings);
//                             processors.json: which networks another processor computes
//                             (night/plan/processors.h); opencl/, drivers/: what was compiled for
//                             it
//   backup-N/                 copies of databases for a backup under way (backup/snapshot.h)
//   restore.incoming/         a backup that is being checked; daemon and worker
//   restore.ready/            the same, once it is whole, until its parts are in their places
//                             (state/restored_state.h)
//   jobs/ID/                  job.json (worker_protocol.h), the worker's checkpoints, "crashed"
//                             if a worker crashed, with its stage, energy.json, what
//                             its attempts took (jobs/job_energy.h), and result.json
//                             (job_result.h) until the daemon has recorded it
//
// Versions are decimal integers from 1, numbered by the daemon. A plain value type.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace moil::daemon {

class StateLayout {
 public:
  using path = std::filesystem::path;
  explicit StateLayout(path root) : root_(std::move(root)) {}

  const path& root() const { return root_; }
  path lock() const { return root_ / "lock"; }
  path reserve() const { return root_ / "reserve"; }
  path lost_nights() const { return root_ / "lost-nights.json"; }
  path database() const { return root_ / "moild.db"; }
  path labels() const { return root_ / "labels"; }
  path cache() const { return root_ / "cache"; }
  path trash() const { return root_ / "trash"; }
  path backing_up(std::int64_t number) const {
    return root_ / (kBackupPrefix + std::to_string(number));
  }
  path restoring() const { return root_ / "restore.incoming"; }
  path restored() const { return root_ / "restore.ready"; }
  path models() const { return root_ / "models"; }
  path model(const std::string& name) const { return models() / name; }
  path version(const std::string& name, std::int64_t version) const {
    return model(name) / std::to_string(version);
  }
  path incoming(const std::string& name, std::int64_t version) const {
    return model(name) / (kIncomingPrefix + std::to_string(version));
  }
  path packs() const { return root_ / "packs"; }
  path pack(const std::string& name) const { return packs() / name; }
  path incoming_pack(const std::string& name, int process) const {
    return packs() / (kIncomingPrefix + name + "-" + std::to_string(process));
  }
  // What nights measured and found.
  path profiles() const { return root_ / "profiles"; }
  path kernel_profile() const { return profiles() / "kernels.json"; }
  // Accuracies of a model's versions on held-out samples (night/judge/accuracy_record.h).
  path accuracies(const std::string& model) const {
    return profiles() / "accuracy" / (model + ".json");
  }
  // What nights of a model chose for themselves (night/settings/settings_record.h).
  path settings(const std::string& model) const {
    return profiles() / "settings" / (model + ".json");
  }
  path timing_profiles(const std::string& model) const { return profiles() / "timing" / model; }
  path jobs() const { return root_ / "jobs"; }
  path job(std::int64_t id) const { return jobs() / std::to_string(id); }
  path job_file(std::int64_t id) const { return job(id) / "job.json"; }
  path job_result(std::int64_t id) const { return job(id) / "result.json"; }
  path job_energy(std::int64_t id) const { return job(id) / "energy.json"; }
  // The cache's models that the job uses, a line each.
  path job_maps(std::int64_t id) const { return job(id) / "maps"; }
  path job_crashed(std::int64_t id) const { return job(id) / "crashed"; }
  path plan(int process, std::int64_t number) const {
    return jobs() /
           (kPlanPrefix + std::to_string(process) + "-" + std::to_string(number) + ".json");
  }

  static constexpr const char* kIncomingPrefix = ".incoming-";
  static constexpr const char* kBackupPrefix = "backup-";
  // The prefix of a description that a process keeps while a worker plans; its number follows.
  static constexpr const char* kPlanPrefix = "plan-";

 private:
  path root_;
};

}  // namespace moil::daemon
