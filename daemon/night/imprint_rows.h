// Gives a night's model the rows of its new labels, made of feature maps (imprint.h).
#pragma once

#include <functional>

#include "daemon/night/feature_source.h"
#include "daemon/night/night_model.h"

namespace moil::night {

enum class Imprinted { kNone, kUnfitted, kFitted };

// Of the plan in `model`; does nothing where there is none. base: the model before the night; mix:
// the one that was planned for. progress: after each batch, of all feature rows; it may throw.
Imprinted imprint_rows(NightModel& model, const StoredModel& base, const data::Mix& mix,
                       FeatureReader& reader,
                       const std::function<void(std::int64_t done, std::int64_t total)>& progress);

}  // namespace moil::night
