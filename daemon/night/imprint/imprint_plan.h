// Which rows of the classifier a night imprints (imprint.h), and of which samples.
//
// The features are what the classifier reads: the night's feature maps, or what the frozen layers
// between them and the classifier make of these.
#pragma once

#include <optional>
#include <vector>

#include "daemon/models/model_folder.h"
#include "daemon/spec/job_spec.h"
#include "datasets/sampling/mix.h"
#include "engine/model/surgery.h"

namespace moil::night {

// What the features of all samples together may take.
inline constexpr std::size_t kMostImprintFeatures = std::size_t{16} << 20;  // bytes

struct ImprintPlan {
  ModelDescription front;  // from the split to the features; no layers: they are the split's
  ClassifierInput input;
  std::vector<data::ClassId> rows;    // in ascending order
  std::vector<std::size_t> samples;   // of mix.train, in the order of their folds
  std::vector<std::size_t> folds;     // of them
  std::vector<std::size_t> silences;  // of mix.train, whose silence is of no class
  std::size_t feature_rows = 0;       // a part of a sample has one of its own
  std::size_t largest_fold = 0;       // feature rows
  std::size_t bytes = 0;              // beside the network `front`
};

// Plans labels that the model does not know; if nothing trains, also labels whose rows were
// imprinted before, for there may be more samples of them; `anew`: all whose rows can be made anew
// (StoredModel::imprintable). Each has a training sample that has no
// other label. head: of `base`, from the night's split on. The plan is empty if there is no such
// label, or if the classifier's rows cannot be made of features (classifier_input()).
[[nodiscard]] std::optional<ImprintPlan> plan_imprint(const StoredModel& base,
                                                      const ModelDescription& head,
                                                      const data::Mix& mix,
                                                      const daemon::JobSpec& spec, bool anew);

}  // namespace moil::night
