// A seam for crash tests: MOIL_PAUSE_AT=STAGE in the environment makes the night stand still in the
// middle of that stage, until it is killed.
#pragma once

#include "daemon/worker_protocol.h"

namespace moil::night {

void pause_if_asked(daemon::Stage stage);

}  // namespace moil::night
