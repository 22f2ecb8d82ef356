// What is to be removed leaves its place at once, into a folder beside, and is removed from there
// later, in the background: nothing that is begun anew under the same name can be hit, and the loop
// does not wait for a disk that frees gigabytes.
#pragma once

#include <filesystem>

#include "daemon/spec/state_layout.h"

namespace moil::daemon {

// Any thread. What is not there is fine. If it cannot be moved it is removed on the spot; what
// fails is told in the log alone, for the housekeeping finds it again.
void throw_away(const StateLayout& layout, const std::filesystem::path& path);

[[nodiscard]] bool has_trash(const StateLayout& layout);

// On the background thread; until nothing is left.
void empty_trash(const StateLayout& layout);

}  // namespace moil::daemon
