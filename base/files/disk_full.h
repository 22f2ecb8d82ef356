// A full disk as an error of its own: who meets it waits for room, and tries again what it stopped.
//
// The code is kResourceExhausted, as of every limit; the type tells a disk from a quota, a budget
// or memory. Whatever writes files throws through throw_write_error().
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"

namespace moil {

class DiskFull : public Error {
 public:
  explicit DiskFull(const std::string& message) : Error(ErrorCode::kResourceExhausted, message) {}
};

// ENOSPC, or EDQUOT: a user's share of the disk.
bool is_disk_full(int errno_value);

// DiskFull if errno_value says so, else what system_error() gives.
[[noreturn]] void throw_write_error(const std::string& what, int errno_value);

// Bytes that this user may still write where `path` lies; empty if the system does not show it.
std::optional<std::uint64_t> free_disk_bytes(const std::filesystem::path& path);

}  // namespace moil
