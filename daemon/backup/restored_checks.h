// Whether what came out of a backup is a state that a daemon can open.
#pragma once

#include <string>

#include "base/json/json.h"
#include "daemon/spec/state_layout.h"

namespace moil::backup {

// Brings the databases in layout.restoring() to the present version, and has jobs and schedules
// look for packs of the state folder `before` in this one. Removes packs that cannot be read, and
// returns them: [{"pack", "why"}]. kBadData, kUnimplemented (a database of a newer moild).
[[nodiscard]] Json check_restored(const daemon::StateLayout& layout, const std::string& before);

}  // namespace moil::backup
