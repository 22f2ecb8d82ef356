// Gives a night's model the rows of its new labels, made of feature maps (imprint.h).
#pragma once

#include <functional>
#include <vector>

#include "daemon/night/imprint/imprint_fit.h"
#include "daemon/night/maps/feature_source.h"
#include "daemon/night/plan/night_model.h"

namespace moil::night {

// A new label whose samples the model before the night mostly calls by one name that it knows.
struct LooksLike {
  data::ClassId label = 0, known = 0;
  std::size_t said = 0, samples = 0;  // feature rows; of so many
};

struct Imprinted {
  enum class Kind { kNone, kUnfitted, kFitted };
  Kind kind = Kind::kNone;
  std::vector<LooksLike> looks_like;
  RightOf left_out;  // feature rows; none where nobody can tell
};

// Of the plan in `model`; does nothing where there is none. base: the model before the night; mix:
// the one that was planned for. progress: after each batch, of all feature rows; it may throw.
Imprinted imprint_rows(NightModel& model, const StoredModel& base, const data::Mix& mix,
                       FeatureReader& reader,
                       const std::function<void(std::int64_t done, std::int64_t total)>& progress);

}  // namespace moil::night
