// Distill: what was known of global samples, to be learned beside their labels. The teacher is the
// model's anchor (guard.h), so that many nights forget no more than one; the model before the night
// if layers that this one freezes were trained since, or outputs are others.
//
// Leaves soft_targets in the job's folder (soft_targets.h), so that a resumed night learns from the
// same numbers.
#pragma once

#include <optional>

#include "daemon/night/maps/feature_source.h"
#include "daemon/night/stages/night_context.h"
#include "daemon/night/stages/plan_stage.h"

namespace moil::night {

class DistillStage {
 public:
  DistillStage(NightContext& night, const NightModel& model, FeatureReader& reader)
      : night_(night), model_(model), reader_(reader) {}

  // Does nothing if the job asks for none or nothing trains.
  void run();
  // For training: without targets if there are none.
  [[nodiscard]] Teacher teacher() const;
  bool is_used() const { return targets_.has_value(); }

 private:
  [[nodiscard]] std::optional<StoredModel> anchor() const;
  void ask_teacher();

  NightContext& night_;
  const NightModel& model_;
  FeatureReader& reader_;
  std::optional<SoftTargets> targets_;
};

}  // namespace moil::night
