// Files on their way into the label store, as the commands that add any send them: a request holds
// many, and what the daemon refuses is told and does not keep the others back.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {

struct AddOptions {
  std::vector<std::string> files;
  std::vector<std::string> labels;  // none: unlabelled
  std::string split;                // empty: chosen by content
  bool unlabelled = false;          // that there are no labels is meant
  std::string step;                 // calls in a row of one step are undone together
};

struct Added {
  int added = 0, failed = 0;
  Json samples = Json::array();  // as label.add told of each, with "file"
};

// A step that no other call is of.
[[nodiscard]] std::string new_step();

// Sends the files under the options' labels and split, and adds what came of it to `all`.
// `done` of `of` stand before them in the bar.
void add_files(Session& session, const AddOptions& options,
               std::span<const std::filesystem::path> files, Added& all, std::size_t done,
               std::size_t of);
// "3 added, 1 known already, 2 refused"
[[nodiscard]] std::string summary_of(const Added& all);

}  // namespace moil::daemon::ctl
