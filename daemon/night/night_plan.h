// What a job would need, told without running it: job.plan.
#pragma once

#include "daemon/state_layout.h"
#include "daemon/worker_protocol.h"

namespace moil::night {

struct PlanRequest {
  bool picture = false;  // with the plan as SVG
  bool timing = false;   // with the timing profile, measured if it is not known
};

// The reply of job.plan (docs/protocol.md): memory by part of the night, the training plan by kind
// of tensor, what would lower it, the swap's traffic. Throws what
// the night itself would throw before it begins, a budget that cannot be met included.
[[nodiscard]] daemon::Json plan_job(const daemon::StateLayout& layout, const daemon::JobFile& file,
                                    const PlanRequest& options);

}  // namespace moil::night
