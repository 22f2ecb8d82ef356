// What the parts of the state folder take of the disk. Any thread; as slow as there are files.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "daemon/state_layout.h"

namespace moil::daemon {

// Bytes that the file system has allocated, by part: "models", "jobs", "labels", "cache",
// "profiles", "database" and "reserve". What goes while it is looked at does not count.
[[nodiscard]] std::map<std::string, std::uint64_t> disk_usage(const StateLayout& layout);

}  // namespace moil::daemon
