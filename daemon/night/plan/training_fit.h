// Training as it fits into a job's memory: its batch in parts, its swap, its plan.
#pragma once

#include "daemon/night/plan/night_model.h"

namespace moil::night {

// Plans the night's trainer, and of elastic training its probe. kInvalidArgument, at the job's
// field, for a budget or a limit of bytes written that cannot be met.
void plan_trainer(NightModel& night, const NightPlanInput& input);

// What choosing, or bringing the weights, takes beside the plan that was fitted: kInvalidArgument
// over the job's budget.
void check_budget(const NightModel& night, const NightPlanInput& input);

}  // namespace moil::night
