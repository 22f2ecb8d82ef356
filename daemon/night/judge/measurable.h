// Whether what is held out can judge any model at all: told by its labels, before anything is
// computed.
//
// The task's scorer is asked, with answers that say what is right. Pure; safe from any thread.
#pragma once

#include "daemon/models/model_folder.h"
#include "daemon/night/judge/guard.h"
#include "datasets/sampling/mix.h"

namespace moil::night {

// How many samples there are, and whether those held out tell the task's headline; what a model
// makes of them is not measured yet.
[[nodiscard]] Measured measurable(const data::Mix& mix, const StoredModel& base);

}  // namespace moil::night
