// A night that has to end in time: deadline.h's choice, from what this night has and how long that
// takes. The choice is kept in choices.json.
#pragma once

#include "daemon/night/plan/deadline.h"
#include "daemon/night/plan/night_model.h"
#include "daemon/night/stages/night_context.h"

namespace moil::night {

// How many layers of the model's head to train and at what rho, told to the user. model: with a
// trainer, planned for the deepest head; profile: of that. At /deadline_seconds if no head can
// be trained in time.
[[nodiscard]] HeadChoice head_in_time(NightContext& night, NightModel& model, bool has_cache,
                                      const TimingProfile& profile);

// Makes the job train it.
void use_head(const HeadChoice& head, daemon::JobSpec& spec);

// When training begins, what is left of the time is known and no longer estimated: sets the
// choice's and the model's rho, once a night.
void settle_rho(NightContext& night, NightModel& model, const TimingProfile& profile);

}  // namespace moil::night
