// What a driver of a second processor needs of the machine beside its libraries.
//
// Main thread, before others are started.
#pragma once

#include <filesystem>

#include "daemon/worker/confinement.h"

namespace moil::worker {

// The GPU's device nodes, which drivers there are, what they look up of the hardware, and a folder
// below `profiles` for what they compile, which they are told by the environment.
void add_processor(Needs& needs, const std::filesystem::path& profiles);

}  // namespace moil::worker
