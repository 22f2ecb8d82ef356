// Files without a name, for what must not outlive a process: a killed one leaves nothing behind.
//
// Safe from any thread; transfers of different ranges of one file, too.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "base/files/unique_fd.h"

namespace moil {

// A new file in the folder, for reading and writing; extra: further flags of open(). None, and
// errno set, if that fails.
[[nodiscard]] UniqueFd open_unnamed_file(const std::filesystem::path& folder, int extra = 0);

// All of the range; throw what system_error() gives, told as `what`, and DiskFull (disk_full.h).
// Nothing more to read is kIo.
void read_at(const UniqueFd& file, std::size_t offset, std::span<std::byte> to, const char* what);
void write_at(const UniqueFd& file, std::size_t offset, std::span<const std::byte> from,
              const char* what);

}  // namespace moil
