#include "featurecache/discard.h"

#include "base/file.h"

namespace fs = std::filesystem;

namespace moil::cache {
namespace {

fs::path aside(const fs::path& folder) { return folder.string() + ".discarded"; }

}  // namespace

void remove_discarded(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(aside(folder), ignored);
}

void discard(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder, error))) return;
  remove_discarded(folder);
  rename_durable(folder, aside(folder));
  remove_discarded(folder);
}

}  // namespace moil::cache
