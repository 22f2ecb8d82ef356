#include "base/files/disk_full.h"

#include <sys/statvfs.h>

#include <cerrno>

namespace moil {

bool is_disk_full(int errno_value) { return errno_value == ENOSPC || errno_value == EDQUOT; }

void throw_write_error(const std::string& what, int errno_value) {
  const Error error = system_error(what, errno_value);
  if (is_disk_full(errno_value)) throw DiskFull(error.what());
  throw error;
}

std::optional<std::uint64_t> free_disk_bytes(const std::filesystem::path& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

}  // namespace moil
