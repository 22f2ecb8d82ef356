#include "daemon/metrics/disk_usage.h"

#include <sys/stat.h>

#include <filesystem>

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

constexpr std::uint64_t kBlock = 512;  // the unit of st_blocks

std::uint64_t allocated(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return 0;
  return static_cast<std::uint64_t>(info.st_blocks) * kBlock;
}

std::uint64_t below(const fs::path& folder) {
  std::uint64_t bytes = allocated(folder);
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error))
    bytes += allocated(at->path());
  return bytes;
}

}  // namespace

std::map<std::string, std::uint64_t> disk_usage(const StateLayout& layout) {
  std::uint64_t database = 0;
  for (const char* suffix : {"", "-wal", "-shm"})
    database += allocated(layout.database().string() + suffix);
  return {{"models", below(layout.models())},
          {"jobs", below(layout.jobs())},
          {"labels", below(layout.labels())},
          {"cache", below(layout.cache())},
          {"profiles", below(layout.kernel_profile().parent_path())},
          {"database", database},
          {"reserve", allocated(layout.reserve())}};
}

}  // namespace moil::daemon
