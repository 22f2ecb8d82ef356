// Nights without a start, kept over restarts of the daemon: on a device that is switched off by day
// they would never be counted up otherwise. Loop thread only.
#pragma once

#include <filesystem>

#include "daemon/schedule/wait_log.h"

namespace moil::daemon {

// None if the file is not there or is damaged.
LostNights read_lost_nights(const std::filesystem::path& file);
// Throws what write_file_atomic() throws. No nights: the file is removed.
void write_lost_nights(const std::filesystem::path& file, const LostNights& lost);

}  // namespace moil::daemon
