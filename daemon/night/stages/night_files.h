// What a job keeps in its folder between attempts, so that a resumed one goes on as if it had never
// stopped: the samples drawn, the arithmetic chosen and the time spent. The training checkpoint
// (engine/train/checkpoint.h), soft targets (soft_targets.h) and, once it is certain, the result
// (job_result.h) lie beside them.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/json/json.h"
#include "daemon/night/plan/deadline.h"
#include "engine/device/conv/kernel_selector.h"

namespace moil::night {

struct NightChoices {
  KernelChoices kernels;
  int threads = 0;
  nlohmann::json training_memory = nullptr;  // night_model.h; null: not fitted yet
  std::optional<HeadChoice> head = {};       // for a deadline
  bool head_is_final = false;                // chosen again when training began
  std::optional<double> rho = {};            // the least possible, if the job asks for less
  // What was tried and chosen for fields that the job leaves open (stages/choose_stage.h).
  nlohmann::json settings = nlohmann::json::object();
  std::size_t trial_bytes = 0;  // that the largest trial was forecast to take
  // The value that feature maps are of (map_split.h); empty: not chosen yet.
  std::string map_split = {};
  // What elastic training's maps may take on disk, chosen by what was free when training began.
  std::optional<std::uint64_t> map_bytes = {};
  // Which processor computes what of training (processors.h); null: not chosen yet.
  nlohmann::json processors = nullptr;
};

// Thrown if a job's own record is damaged: the job begins anew without any of them.
class DamagedRecord : public Error {
 public:
  explicit DamagedRecord(const std::string& what) : Error(ErrorCode::kBadData, what) {}
};

// Reads a record; what is wrong with its content is DamagedRecord.
template <typename Read>
auto restored(const Read& read) {
  try {
    return read();
  } catch (const nlohmann::json::exception& e) {
    throw DamagedRecord(e.what());
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kBadData) throw;
    throw DamagedRecord(e.what());
  }
}

class NightFiles {
 public:
  explicit NightFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path checkpoint() const { return folder_ / "train.checkpoint"; }
  std::filesystem::path soft_targets() const { return folder_ / "soft_targets"; }
  // Of a trial of settings, by its number: a night's files, the checkpoint of its training among
  // them.
  std::filesystem::path trials() const { return folder_ / "trials"; }
  std::filesystem::path trial(std::size_t number) const {
    return trials() / std::to_string(number);
  }
  // There while a worker has another processor open (processors.h).
  std::filesystem::path processor_opened() const { return folder_ / "processor_opened"; }

  // Each: nothing if it was not saved; DamagedRecord if it is damaged. Saving is atomic.
  std::optional<nlohmann::json> load_mix() const { return load("mix.json"); }
  void save_mix(const nlohmann::json& mix) const { save("mix.json", mix); }
  std::optional<NightChoices> load_choices() const;
  void save_choices(const NightChoices& choices) const;

  // Seconds by stage of all attempts together.
  std::map<std::string, double> load_seconds() const;
  void save_seconds(const std::map<std::string, double>& seconds) const {
    save("seconds.json", seconds);
  }

  // What attempts that were killed while they saved left aside; as large as what was saved.
  void remove_unfinished() const;
  // What training has come to, and what was chosen for the samples that it had: it begins anew with
  // others. Kernels, threads and trials stay.
  void remove_training() const;
  // Everything but job.json: the job begins anew.
  void remove_all() const;

 private:
  std::optional<nlohmann::json> load(const char* name) const;
  void save(const char* name, const nlohmann::json& json) const;

  std::filesystem::path folder_;
};

}  // namespace moil::night
