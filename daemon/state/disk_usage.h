// What files take on the disk. Any thread; never throws: what cannot be looked at counts nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "daemon/spec/state_layout.h"

namespace moil::daemon {

// What a file takes, or all files in a folder and below, as the file system has allocated it (a
// file with holes takes less than its length). Links are not followed.
[[nodiscard]] std::uint64_t disk_usage(const std::filesystem::path& path);

// What the parts of the state folder take: "models", "jobs", "labels", "cache", "profiles",
// "database" and "reserve".
[[nodiscard]] std::map<std::string, std::uint64_t> disk_usage(const StateLayout& layout);

}  // namespace moil::daemon
