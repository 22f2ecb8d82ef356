// Gives a night's model the rows of its new labels, made of feature maps (imprint.h).
#pragma once

#include <functional>
#include <vector>

#include "daemon/night/imprint/imprint_fit.h"
#include "daemon/night/imprint/imprint_plan.h"
#include "daemon/night/maps/feature_source.h"

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
  RightOf left_out;  // feature rows; none if nobody can tell
};

// What rows are made with. All of it outlives the call.
struct ImprintWork {
  const ImprintPlan& plan;
  const StoredModel& base;  // the model before the night
  const data::Mix& mix;     // the one that was planned for
  FeatureReader& reader;
  KernelSelector& kernels;
  const ModelDescription& head;  // of the model that gets them
};
// Writes the plan's rows into `model`. progress: after each batch, of all feature rows; it may
// throw.
Imprinted imprint_rows(const ImprintWork& work, StoredModel& model,
                       const std::function<void(std::int64_t done, std::int64_t total)>& progress);

}  // namespace moil::night
