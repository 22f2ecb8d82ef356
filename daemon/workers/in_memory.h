// Bytes as a file without a name, for a worker that reads them from a descriptor.
#pragma once

#include <cstdint>
#include <span>

#include "base/files/unique_fd.h"

namespace moil::daemon {

// Any thread. kIo, DiskFull if there is no room.
[[nodiscard]] UniqueFd in_memory(std::span<const std::uint8_t> bytes);

}  // namespace moil::daemon
