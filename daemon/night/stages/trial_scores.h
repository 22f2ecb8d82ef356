// What a trial's model says of the held-out samples of trials.
#pragma once

#include "daemon/night/maps/feature_reader.h"
#include "daemon/night/plan/night_model.h"
#include "daemon/night/settings/search.h"
#include "daemon/night/stages/night_context.h"

namespace moil::night {

struct TrialScores {
  Quality local, global;  // empty: nothing is held out
};
// head: the model's, or that of the model before the night, with these weights.
[[nodiscard]] TrialScores score_trial(const NightContext& trial, const NightModel& model,
                                      FeatureReader& reader, const ModelDescription& head,
                                      const WeightsOfPart& weights);

}  // namespace moil::night
