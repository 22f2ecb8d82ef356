#include "datasets/labels/folder_walk.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "datasets/labels/service_names.h"

namespace moil::data {
namespace fs = std::filesystem;

namespace {

using Why = FolderWalk::Why;

class Walking {
 public:
  explicit Walking(const fs::path& root) : root_(root) {
    std::error_code error;
    fs::path above = fs::canonical(root, error);
    while (!error && above.has_relative_path()) {
      above = above.parent_path();
      within_.push_back(identity_of(above));
    }
  }

  void enter(const std::string& below) {
    const fs::path folder = below.empty() ? root_ : root_ / below;
    const Identity identity = identity_of(folder);
    if (std::ranges::find(within_, identity) != within_.end()) {
      found.passed_over.push_back({below, Why::kAround, true});
      return;
    }
    within_.push_back(identity);
    for (const std::string& name : names_in(folder))
      take(name, below.empty() ? name : below + "/" + name);
    within_.pop_back();
  }

  FolderWalk found;

 private:
  using Identity = std::pair<dev_t, ino_t>;

  static Identity identity_of(const fs::path& folder) {
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0)
      throw system_error("cannot read the folder " + folder.string(), errno);
    return {info.st_dev, info.st_ino};
  }

  static std::vector<std::string> names_in(const fs::path& folder) {
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
         entry.increment(error))
      names.push_back(entry->path().filename().string());
    if (error) throw system_error("cannot read the folder " + folder.string(), error.value());
    std::ranges::sort(names);
    return names;
  }

  void take(const std::string& name, const std::string& path) {
    std::error_code error;
    const fs::file_type type = fs::status(root_ / path, error).type();
    const bool is_folder = type == fs::file_type::directory;
    if (is_service_name(name)) {
      found.passed_over.push_back({path, Why::kService, is_folder});
    } else if (is_folder) {
      enter(path);
    } else if (type == fs::file_type::regular) {
      found.files.push_back(path);
    } else {
      found.passed_over.push_back({path, Why::kNoFile});
    }
  }

  const fs::path& root_;
  std::vector<Identity> within_;  // the folders that hold what is looked at
};

}  // namespace

FolderWalk walk_folder(const fs::path& folder) {
  Walking walking(folder);
  walking.enter("");
  return std::move(walking.found);
}

}  // namespace moil::data
