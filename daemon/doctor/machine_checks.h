// What the worker measured of the machine (moil-worker doctor). Pure functions; any thread.
#pragma once

#include "daemon/doctor/finding.h"

namespace moil::daemon {

// speed: the worker's reply, members as in daemon/worker/doctor.h. is_busy: a night computed
// meanwhile, so that the figures are lower than they could be. Throws Json::exception if the
// worker is of another build and a member is missing.
Findings judge_machine(const Json& speed, bool is_busy);

}  // namespace moil::daemon
