// One trial: a small night on training samples alone, from feature maps to a judgement, of which
// nothing stays but its figures and the maps in the cache.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "daemon/night/data/night_data.h"
#include "daemon/night/maps/feature_source.h"
#include "daemon/night/plan/memory_forecast.h"
#include "daemon/night/plan/night_model.h"
#include "daemon/night/settings/search.h"
#include "daemon/night/train/head_training.h"

namespace moil::night {

// What all trials of a night share. All of it outlives them.
struct TrialGround {
  const StoredModel& base;
  const data::Mix& mix;  // trial_mix()
  const NightData& data;
  DecodingNeeds decoding;
  std::filesystem::path folder;  // for files of its own
  std::filesystem::path kernel_profile;
  MeasuringTime& measuring;
  ProcessorChooser& processors;
  // The cache with the model in use; null: none.
  std::function<std::pair<cache::ModelId, cache::FeatureCache*>(NightModel&,
                                                                const daemon::JobSpec&)>
      open_cache;
  std::function<bool()> may_go_on;       // false stops a trial: Stopped
  std::function<double()> seconds_left;  // a trial that is seen to need more is given up
  std::function<void(const MemoryForecast&)> forecast;  // told before a trial takes its memory
  bool is_read = false;  // a trial before has read all samples: none needs to be looked at again
};

// Plans, computes and trains the job as it is filled; `unreadable` names samples that cannot be
// read, and the result is of no meaning then. What cannot be planned, as over a budget, or had no
// time is told in `failed`. `before`, unless null: how good the model before the night is on the
// trials' global held-out samples; left as it is if the trial ends before that is known.
[[nodiscard]] TrialResult try_settings(const TrialGround& ground, const daemon::JobSpec& job,
                                       const Candidate& candidate, UnreadableSamples& unreadable,
                                       std::optional<Quality>* before = nullptr);

}  // namespace moil::night
