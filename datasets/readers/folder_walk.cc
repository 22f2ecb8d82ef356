#include "datasets/readers/folder_walk.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.h"

namespace moil::data {
namespace fs = std::filesystem;

namespace {

class Walk {
 public:
  Walk(const fs::path& root, PassedOver& passed_over) : root_(root), passed_over_(passed_over) {}

  void enter(const std::string& below) {
    const fs::path folder = below.empty() ? root_ : root_ / below;
    const auto identity = identity_of(folder);
    if (std::ranges::find(within_, identity) != within_.end()) {
      throw Error(ErrorCode::kBadData,
                  folder.string() + ": a link to a folder that holds it; remove it");
    }
    within_.push_back(identity);
    std::error_code error;
    for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      take(*entry, below);
    }
    if (error) throw system_error("cannot read the folder " + folder.string(), error.value());
    within_.pop_back();
  }

  std::vector<std::string> files;

 private:
  using Identity = std::pair<dev_t, ino_t>;

  static Identity identity_of(const fs::path& folder) {
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0)
      throw system_error("cannot read the folder " + folder.string(), errno);
    return {info.st_dev, info.st_ino};
  }

  void take(const fs::directory_entry& entry, const std::string& below) {
    const std::string name = entry.path().filename().string();
    const std::string path = below.empty() ? name : below + "/" + name;
    std::error_code error;
    const fs::file_type type = entry.status(error).type();
    if (type == fs::file_type::directory) {
      if (is_service_name(name)) {
        passed_over_.services.insert(path);
      } else {
        enter(path);
      }
    } else if (type == fs::file_type::regular) {
      files.push_back(path);
    } else {
      ++passed_over_.links;
    }
  }

  const fs::path& root_;
  PassedOver& passed_over_;
  std::vector<Identity> within_;  // the folders that are being read
};

}  // namespace

std::vector<std::string> walk_folder(const fs::path& folder, PassedOver& passed_over) {
  Walk walk(folder, passed_over);
  walk.enter("");
  return std::move(walk.files);
}

}  // namespace moil::data
