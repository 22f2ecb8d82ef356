// Timing profiles that were measured on this device, and what elastic training takes beside its
// steps, kept by model: a night that trains the same layers in the same way need not measure again,
// and selects the same.
//
// What it is asked for decides the file's name, so that another head, batch, optimizer or number of
// threads finds nothing (build_record.h).
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "daemon/night/data/build_record.h"
#include "daemon/night/plan/night_model.h"

namespace moil::night {

class TimingStore {
 public:
  // folder: of the model (state_layout.h).
  TimingStore(std::filesystem::path folder, const ModelDescription& head,
              const std::set<std::string>& trainable_layers, const TrainerConfig& config,
              int threads);

  [[nodiscard]] std::optional<ProfileInForce> load() const;  // from epoch 0 on
  void save(const ProfileInForce& profile) const;

 private:
  BuildRecord file_;
};

// The stored profile, or one that is measured now, with the memory of training everything, and
// stored. night: with a trainer.
[[nodiscard]] ProfileInForce timing_profile(const TimingStore& store, const NightModel& night);

}  // namespace moil::night
