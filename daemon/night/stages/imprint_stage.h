// Imprint: rows of new labels, from a few feature maps (imprint.h), in place of random numbers.
//
// Leaves nothing in the job's folder: a resumed night makes the same rows of the same maps.
#pragma once

#include "daemon/night/imprint/imprint_rows.h"
#include "daemon/night/stages/night_context.h"
#include "daemon/night/stages/plan_stage.h"

namespace moil::night {

class ImprintStage {
 public:
  ImprintStage(NightContext& night, PlanStage& plan, FeatureReader& reader)
      : night_(night), plan_(plan), reader_(reader) {}

  // Does nothing if no row is to be made. The plan's model then begins with the rows.
  void run();
  // The result's; null if no row was made.
  [[nodiscard]] nlohmann::json details() const;

 private:
  NightContext& night_;
  PlanStage& plan_;
  FeatureReader& reader_;
  Imprinted made_;
};

}  // namespace moil::night
