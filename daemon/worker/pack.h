// Copying a global pack into the state folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "daemon/spec/state_layout.h"

namespace moil::worker {

// files: NAME=DESCRIPTOR (handed_over.h). The pack is checked whole, and nothing half-done stays
// behind. Returns what is told of it: its name and path, what it holds. kAlreadyExists; what the
// readers of packs throw, naming `source`, the folder that it was copied from.
[[nodiscard]] Json import_pack(const daemon::StateLayout& layout, const std::string& name,
                               const std::vector<std::string>& files,
                               const std::filesystem::path& source);

}  // namespace moil::worker
