#include "daemon/state/disk_usage.h"

#include <sys/stat.h>

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

constexpr std::uint64_t kBlock = 512;  // of st_blocks

}  // namespace

std::uint64_t disk_usage(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return 0;
  std::uint64_t bytes = static_cast<std::uint64_t>(info.st_blocks) * kBlock;
  if (!S_ISDIR(info.st_mode)) return bytes;
  std::error_code error;
  auto entry = fs::directory_iterator(path, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error))
    bytes += disk_usage(entry->path());
  return bytes;
}

}  // namespace moil::daemon
