// moil-worker doctor: how fast the machine computes, for system.doctor.
#pragma once

#include "daemon/json/fields.h"

namespace moil::daemon {

// The members of engine/device/machine_speed.h, and "unconfined": what the worker could not give up
// here (confinement.h), empty if it could give up all. Takes about a second. Main thread, before
// others are started.
Json examine_machine();

}  // namespace moil::daemon
