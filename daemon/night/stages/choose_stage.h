// Choose: the fields that the job leaves open, by trials on a part of the training samples
// (settings/), or as an earlier night of the model chose them.
//
// Reads profiles/settings/NAME.json; leaves what was tried and chosen in choices.json, so that a
// resumed night goes on trying where it was, and trains what it had chosen.
#pragma once

#include "daemon/night/settings/settings_record.h"
#include "daemon/night/settings/trial.h"
#include "daemon/night/stages/night_cache.h"

namespace moil::night {

class ChooseStage {
 public:
  ChooseStage(NightContext& night, NightCache& cache) : night_(night), cache_(cache) {}

  // Sets the context's job for the mix that there is. Samples that cannot be read: the mix is to be
  // drawn without them, and this run again.
  [[nodiscard]] FeatureReader::Unreadable run();

  // After the guard has spoken.
  void remember(bool promoted) const;
  // What was tried and chosen, for the report; null: nothing was open.
  [[nodiscard]] nlohmann::json details() const;

 private:
  FeatureReader::Unreadable choose();
  FeatureReader::Unreadable try_all(const data::Mix& mix);
  TrialGround ground(const data::Mix& mix);
  void note_bytes(std::size_t bytes);
  void record(const Search& search);
  void settle(const Candidate& candidate, const std::string& why);
  SettingsRecord known_settings() const;
  std::size_t local_samples() const;
  double seconds_for_trials() const;
  double seconds_left() const;  // of them

  NightContext& night_;
  NightCache& cache_;
  double spent_ = 0;  // by trials before the night was resumed
  std::chrono::steady_clock::time_point began_{};
};

}  // namespace moil::night
