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

// Which network a folder of such samples gets: the one that is named, or the default of its kind.
// kNotFound, with what to do, if there is none; kInvalidArgument for one of another kind.
[[nodiscard]] InstalledNetwork network_for(const std::string& kind, const std::string& named,
                                           const std::vector<InstalledNetwork>& installed);

// "photos", "sounds": what people call samples of the kind, and the model of them.
[[nodiscard]] std::string usual_name(const std::string& kind);

// The folder of the model that `named` is: a model's folder, or an installed network; if it is
// empty, of the kind's usual network. Throws as network_for().
[[nodiscard]] std::filesystem::path model_folder_for(const std::string& kind,
                                                     const std::string& named);

}  // namespace moil::daemon::ctl
