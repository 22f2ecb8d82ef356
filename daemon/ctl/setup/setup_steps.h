// The commands that `moilctl setup` consists of. Pure functions; safe from any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "daemon/ctl/setup/folder_content.h"
#include "daemon/ctl/setup/own_command.h"

namespace moil::daemon::ctl {

struct SetupWanted {
  std::filesystem::path source;   // absolute: a folder, or a table
  std::string name;               // of the model on this device
  std::string model;              // a folder; empty: numbers are learned from nothing
  std::string pack;               // a folder, or a name of pack list; empty: beside the model
  std::filesystem::path scratch;  // for what one step leaves to the next
  bool as_spelled = false;        // labels are others if they differ in case alone
};

// What is on the device already.
struct SetupPresent {
  bool model = false, pack = false;  // of the wanted name
};

struct SetupStep {
  std::string why;  // "the network, and a night whenever there are new labels"
  Words words;
  // What is said if files were refused (EX_DATAERR), or if it fails and is not needed: setup goes
  // on.
  std::string if_it_fails = "";
  bool is_needed = true;
};

// If the model is there, labels alone are added.
[[nodiscard]] std::vector<SetupStep> setup_steps(const SetupWanted& wanted,
                                                 const FolderContent& content,
                                                 const SetupPresent& present);

// What takes all of that back: model, schedule and pack, and the samples that the source holds.
[[nodiscard]] std::vector<SetupStep> undo_steps(const SetupWanted& wanted,
                                                const FolderContent& content,
                                                const SetupPresent& present);

}  // namespace moil::daemon::ctl
