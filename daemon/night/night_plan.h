// What a job would need, told without running it: job.plan.
#pragma once

#include "daemon/state_layout.h"
#include "daemon/worker_protocol.h"

namespace moil::night {

// The reply of job.plan (docs/protocol.md): memory by part of the night, the training plan by kind
// of tensor, what would lower it, the swap's traffic. picture: with the plan as SVG. Throws what
// the night itself would throw before it begins, a budget that cannot be met included.
[[nodiscard]] daemon::Json plan_job(const daemon::StateLayout& layout, const daemon::JobFile& file,
                                    bool picture);

}  // namespace moil::night
