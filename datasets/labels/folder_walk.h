// The files below a folder: the one rule, whoever is given one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace moil::data {

struct FolderWalk {
  enum class Why {
    kService,  // service_names.h
    kAround,   // a link to a folder that holds it
    kNoFile,   // a link that leads nowhere, or a special file
  };
  struct PassedOver {
    std::string path;
    Why why;
    bool is_folder = false;
  };
  // Both relative to the folder and, within each folder, by name.
  std::vector<std::string> files;
  std::vector<PassedOver> passed_over;
};

// Links are followed: what lies behind one has the link's name. Service folders are not entered,
// nor is a folder that holds the link to it, be it above the root: that would not end. kIo naming a
// folder that cannot be read.
[[nodiscard]] FolderWalk walk_folder(const std::filesystem::path& folder);

}  // namespace moil::data
