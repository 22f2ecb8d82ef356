// Networks that were installed beside moild, ready to be personalized (the package moild-models):
// SHARE/networks/NAME/ with network.json, the model's folder `model` and its global pack `pack`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace moil::daemon::ctl {

struct InstalledNetwork {
  std::string name;  // of its folder
  std::filesystem::path folder;
  std::string kind;   // of samples: "image", "sound"
  std::string title;  // for people
  std::string licence;
  bool is_default = false;  // of its kind
};

// $MOILD_NETWORKS, else share/moild/networks beside this program's bin.
[[nodiscard]] std::filesystem::path networks_folder();
// By name; none if there is no such folder. kBadData, with the file, for a network.json that is
// none.
[[nodiscard]] std::vector<InstalledNetwork> installed_networks(const std::filesystem::path& folder);

}  // namespace moil::daemon::ctl
