#include "featurecache/open_registry.h"

#include <sys/stat.h>

#include <cerrno>
#include <mutex>
#include <set>

#include "base/error.h"

namespace moil::cache {
namespace {

struct Registry {
  std::mutex mutex;
  std::set<std::pair<dev_t, ino_t>> open;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

void OpenRegistration::acquire(const std::filesystem::path& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) {
    throw system_error("cannot open the feature cache " + folder.string(), errno);
  }
  const std::pair id{info.st_dev, info.st_ino};
  const std::lock_guard lock(registry().mutex);
  if (!registry().open.insert(id).second) {
    throw Error(ErrorCode::kFailedPrecondition, "the feature cache " + folder.string() +
                                                    " is already open in this process; share "
                                                    "the open one");
  }
  id_ = id;
  held_ = true;
}

void OpenRegistration::release() {
  if (!held_) return;
  const std::lock_guard lock(registry().mutex);
  registry().open.erase(id_);
  held_ = false;
}

}  // namespace moil::cache
