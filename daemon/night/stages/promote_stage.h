// Promote: the result, and the new version in its place if the guard passed it.
//
// Reads models/NAME/.incoming-VERSION/; leaves result.json (daemon/spec/job_result.h) and
// models/NAME/VERSION/, in this order, so that a job is done once both are there.
#pragma once

#include "daemon/night/stages/night_context.h"

namespace moil::night {

void promote(NightContext& night, const daemon::JobResult& result);

}  // namespace moil::night
