#include "daemon/state/trash.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>

#include "base/files/file.h"
#include "base/files/folder_entries.h"
#include "daemon/log/log.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

// A name that nothing in there has: what an earlier process left has another number.
fs::path free_place(const StateLayout& layout, const fs::path& path) {
  static std::atomic<std::uint64_t> next = 1;
  return layout.trash() / (path.filename().string() + "-" + std::to_string(::getpid()) + "-" +
                           std::to_string(next++));
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

bool moved(const StateLayout& layout, const fs::path& path) {
  for (int tries = 0; tries < 100; ++tries) {
    if (::rename(path.c_str(), free_place(layout, path).c_str()) == 0) return true;
    if (errno != EEXIST && errno != ENOTEMPTY) return false;
  }
  return false;
}

void remove_at_once(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) log_warn("cannot remove {}: {}", path.string(), error.message());
}

}  // namespace

void throw_away(const StateLayout& layout, const fs::path& path) {
  if (!is_there(path)) return;
  std::error_code error;  // if there is no room for the folder, say
  if (!is_there(layout.trash())) fs::create_directory(layout.trash(), error);
  if (!moved(layout, path)) remove_at_once(path);
}

bool has_trash(const StateLayout& layout) {
  std::error_code error;
  return fs::exists(layout.trash(), error) && !fs::is_empty(layout.trash(), error);
}

void empty_trash(const StateLayout& layout) {
  for (const fs::path& entry : entries_of(layout.trash())) remove_at_once(entry);
}

}  // namespace moil::daemon
