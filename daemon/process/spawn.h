// fork and exec of a worker, with all that must happen in the child between the two.
#pragma once

#include "daemon/process/worker_process.h"

namespace moil::daemon {

// Starts the program with `output` as stdout and `errors` as stderr (below 0: ours); its process
// id. Throws if it could not be executed, with errno's text.
int spawn_process(const ProcessOptions& options, int output, int errors = -1);

}  // namespace moil::daemon
