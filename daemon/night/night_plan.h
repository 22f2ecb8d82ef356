// What a job would need, told without running it: job.plan.
#pragma once

#include <string>

#include "daemon/spec/state_layout.h"
#include "daemon/spec/worker_protocol.h"

namespace moil::night {

struct PlanRequest {
  bool picture = false;  // with the plan as SVG; if processors are asked for, their schedule
  bool timing = false;   // with the timing profile, measured if it is not known
  bool check = false;    // only whether the night would refuse the job; what it needs in all
  // With who would compute what of training, measured: of SelectionMethod; empty: without.
  std::string processors = {};
};

// The reply of job.plan (docs/protocol.md): memory by part of the night, the training plan by kind
// of tensor, what would lower it, the swap's traffic. Throws what the night itself would throw
// before it begins, at the job's field (field_error.h); but not for what only measuring tells: a
// deadline or a rho that this machine cannot keep.
[[nodiscard]] Json plan_job(const daemon::StateLayout& layout, const daemon::JobFile& file,
                            const PlanRequest& options);

}  // namespace moil::night
