#include "featurecache/discard.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/files/file.h"

namespace fs = std::filesystem;

namespace moil::cache {
namespace {

constexpr const char* kAside = ".discarded";

fs::path aside(const fs::path& path) { return path.string() + kAside; }

std::vector<fs::path> content(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) paths.push_back(entry.path());
  return paths;
}

}  // namespace

void remove_discarded(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(aside(folder), ignored);
  for (const fs::path& path : content(folder))
    if (path.native().ends_with(kAside)) fs::remove_all(path, ignored);
}

void discard(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder, error))) return;
  remove_discarded(folder);
  rename_durable(folder, aside(folder));
  remove_discarded(folder);
}

void discard_content(const fs::path& folder) {
  remove_discarded(folder);
  // The lock goes first: data without a lock is found damaged once more, a lock without data is
  // none.
  std::vector<fs::path> paths = content(folder);
  std::ranges::sort(paths, std::greater());
  for (const fs::path& path : paths) rename_durable(path, aside(path));
  remove_discarded(folder);
}

}  // namespace moil::cache
