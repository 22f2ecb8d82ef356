// Folder, socket, disk and cache. Functions that look may be called from any thread, and take as
// long as the disk does; those that judge are pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "daemon/config/config.h"
#include "daemon/doctor/finding.h"
#include "daemon/spec/state_layout.h"

namespace moil::daemon {

// Whether the state folder is this user's alone.
Finding check_state_folder(const std::filesystem::path& folder);
// Whether clients find the socket, and who may knock.
Finding check_socket(const std::filesystem::path& socket);
// free: bytes; empty if the system does not show it.
Finding judge_room(std::optional<std::uint64_t> free, const DiskConfig& disk);

struct DiskSpeed {
  double sync_seconds = 0;     // of a small write until it is durable, the median
  double write_megabytes = 0;  // 1e6 bytes a second, made durable
};
// Writes some MiB to a file without a name in the folder. Throws moil::Error.
DiskSpeed measure_disk(const std::filesystem::path& folder);
Finding judge_disk(const DiskSpeed& speed);

// Opens the cache of feature maps, and reads all of it if that is quick. Background thread
// alone: one process opens the cache once.
Finding check_cache(const StateLayout& layout, std::int64_t quota_bytes);

}  // namespace moil::daemon
