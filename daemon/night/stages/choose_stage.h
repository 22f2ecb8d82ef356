// Choose: the fields that the job leaves open, by trials on a part of the training samples
// (settings/), or as an earlier night of the model chose them.
// The winner's trial is the beginning of the night's training: its maps, its weights and its
// optimizer's state go on, over all samples.
//
// Reads profiles/settings/NAME.json; leaves what was tried and chosen in choices.json, so that a
// resumed night goes on trying where it was, and trains what it had chosen; and the winner's trial
// in trials/.
#pragma once

#include "daemon/night/settings/settings_record.h"
#include "daemon/night/stages/mix_stage.h"
#include "daemon/night/stages/night_cache.h"
#include "daemon/night/stages/trial.h"

namespace moil::night {

class ChooseStage {
 public:
  // All outlive it.
  ChooseStage(NightContext& night, const MixStage& mix, NightCache& cache)
      : night_(night), mix_(mix), cache_(cache) {}

  // Sets the context's job for the mix that there is. Samples that cannot be read: the mix is to be
  // drawn without them, and this run again.
  [[nodiscard]] UnreadableSamples run();

  // What was chosen cannot be had, so that the night is planned again with the next best, or with
  // the cheapest. False if there is nothing else: the job itself asks for too much.
  [[nodiscard]] bool give_up(const std::string& why);

  // After the guard has spoken.
  void remember(bool promoted) const;
  // What was tried and chosen, for the report; null: nothing was open.
  [[nodiscard]] nlohmann::json details() const;

 private:
  UnreadableSamples choose();
  void take(const KnownSettings& known);
  void make_rows_anew();
  UnreadableSamples try_all();
  bool try_next(Search& search, TrialGround& ground, UnreadableSamples& unreadable);
  std::vector<data::MixedSample> untrained_global() const;
  TrialGround ground();
  void note_bytes(std::size_t bytes);
  void begin_with_trial_of(const Candidate& candidate);
  // What this night has tried so far.
  [[nodiscard]] std::vector<TrialResult> tried() const;
  [[nodiscard]] Search searched() const;
  void record(const Search& search);
  void settle(const Candidate& candidate, const std::string& why);
  SettingsRecord known_settings() const;
  std::size_t local_samples() const;
  double seconds_for_trials() const;
  double seconds_left() const;  // of them
  void tell();

  NightContext& night_;
  const MixStage& mix_;
  NightCache& cache_;
  data::Mix trials_;  // what trials cannot read is told by its samples
  double spent_ = 0;  // by trials before the night was resumed
  std::chrono::steady_clock::time_point began_{}, last_told_{};
};

}  // namespace moil::night
