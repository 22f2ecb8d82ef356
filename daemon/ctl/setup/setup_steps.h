// The commands that `moilctl setup` consists of. Pure functions; safe from any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "daemon/ctl/setup/folder_content.h"
#include "daemon/ctl/setup/installed_network.h"
#include "daemon/ctl/setup/own_command.h"

namespace moil::daemon::ctl {

struct SetupWanted {
  std::filesystem::path folder;  // absolute
  std::string name;              // of the model on this device
  std::string model, pack;       // folders; empty: by the network that is installed
};

struct SetupStep {
  std::string why;  // "the network, and a night whenever there are new labels"
  Words words;
  // What is said if files were refused (EX_DATAERR), or if it fails and is not needed: setup goes
  // on.
  std::string if_it_fails = "";
  bool is_needed = true;
};

// Which network a folder of such samples gets: the one that is named, or the default of its kind.
// kNotFound, with what to do, if there is none; kInvalidArgument for one of another kind.
[[nodiscard]] InstalledNetwork network_for(const std::string& kind, const std::string& named,
                                           const std::vector<InstalledNetwork>& installed);

// "photos", "sounds": what people call samples of the kind, and the model of them.
[[nodiscard]] std::string usual_name(const std::string& kind);

// has_model: the model is there, so that labels alone are added.
[[nodiscard]] std::vector<SetupStep> setup_steps(const SetupWanted& wanted,
                                                 const FolderContent& content, bool has_model);

}  // namespace moil::daemon::ctl
