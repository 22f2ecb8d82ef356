#include "daemon/state/disk_usage.h"

#include <sys/stat.h>

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

constexpr std::uint64_t kStatBlock = 512;  // of st_blocks

}  // namespace

std::uint64_t disk_usage(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return 0;
  std::uint64_t bytes = static_cast<std::uint64_t>(info.st_blocks) * kStatBlock;
  if (!S_ISDIR(info.st_mode)) return bytes;
  std::error_code error;
  auto entry = fs::directory_iterator(path, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error))
    bytes += disk_usage(entry->path());
  return bytes;
}

std::map<std::string, std::uint64_t> disk_usage(const StateLayout& layout) {
  std::uint64_t database = 0;
  for (const char* end : {"", "-wal", "-shm"}) {
    fs::path file = layout.database();
    file += end;
    database += disk_usage(file);
  }
  return {{"models", disk_usage(layout.models())},
          {"jobs", disk_usage(layout.jobs())},
          {"labels", disk_usage(layout.labels())},
          {"cache", disk_usage(layout.cache())},
          {"profiles", disk_usage(layout.profiles())},
          {"packs", disk_usage(layout.packs())},
          {"database", database},
          {"reserve", disk_usage(layout.reserve())}};
}

}  // namespace moil::daemon
