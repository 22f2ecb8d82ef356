// What clients are told of a pack in the state folder, by its pack.json, which a worker has
// checked.
#pragma once

#include <filesystem>
#include <string>

#include "base/json/json.h"

namespace moil::daemon {

// {"name", "path", "kind", "samples_are", "train", "held_out", "labels", "targets", "reached",
// "bytes"}; reached is null if targets are those of data.
[[nodiscard]] Json pack_told(const Json& manifest, const std::string& name,
                             const std::filesystem::path& folder);

}  // namespace moil::daemon
