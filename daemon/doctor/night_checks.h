// What the next night will do, and what stands against it. Loop thread only.
#pragma once

#include "daemon/doctor/finding.h"

namespace moil::daemon {

class Service;

Findings check_nights(Service& service);

}  // namespace moil::daemon
