// What the next night will do, and what stands against it. Loop thread only.
#pragma once

#include "daemon/doctor/finding.h"

namespace moil::daemon {

struct NightView;

Findings check_nights(const NightView& nights);

}  // namespace moil::daemon
