// A night's result as JSON (docs/protocol.md, job.get), from what its stages came to.
#pragma once

#include "daemon/night/stages/choose_stage.h"
#include "daemon/night/stages/judge_stage.h"
#include "daemon/night/stages/listen_stage.h"
#include "daemon/night/stages/mix_stage.h"
#include "daemon/night/stages/night_run.h"

namespace moil::night {

struct NightStages {
  const MixStage& mix;
  const ChooseStage& choose;
  const NightRun& run;
  const JudgeStage& judge;
  const ListenStage& listen;
  const std::string& weights;  // of the new version: their digest
};

// refused: why the new model is kept back, if it is.
[[nodiscard]] daemon::JobResult night_result(NightContext& night, const NightStages& stages,
                                             const std::optional<std::string>& refused);

// The result of a night that the guard cannot pass, ended before anything was planned.
[[nodiscard]] daemon::JobResult refused_result(NightContext& night, const MixStage& mix,
                                               const std::string& refused);

}  // namespace moil::night
