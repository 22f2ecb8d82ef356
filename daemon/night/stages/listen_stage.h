// Listen: from which probability the new version tells its labels while it listens to a sound
// (judge/heard_peaks.h); a part of stage judge.
//
// Leaves listening.json in the new version's folder, and nothing in the job's.
#pragma once

#include "daemon/models/listening_levels.h"
#include "daemon/night/stages/night_context.h"
#include "daemon/night/stages/plan_stage.h"

namespace moil::night {

class ListenStage {
 public:
  ListenStage(NightContext& night, const PlanStage& plan) : night_(night), plan_(plan) {}

  // When the version is judged. Does nothing if it hears no sounds, or if the job's memory budget
  // has no room for it.
  void run();
  // By label; null if nothing was told.
  [[nodiscard]] nlohmann::json details() const;

 private:
  NightContext& night_;
  const PlanStage& plan_;
  ListeningLevels levels_;
};

}  // namespace moil::night
