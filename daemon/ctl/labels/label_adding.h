// Files on their way into the label store, as the commands that add any send them: a request holds
// many, and what the daemon refuses is told and does not keep the others back.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "daemon/ctl/labels/spelling.h"

namespace moil::daemon::ctl {

// What the command line says of labels.
struct GivenLabels {
  std::vector<std::string> labels, denied;
  bool label_none = false;  // the label is kSomethingElse
  bool unlabelled = false;  // that there are no labels is meant

  // The labels, denials among them (denial.h); kInvalidArgument if not just one of --label or
  // --not, --label-none and --unlabelled is given.
  [[nodiscard]] std::vector<std::string> all() const;
};

// whose: "their" or "its".
void add_label_options(const cli::Command& command, GivenLabels& given, const std::string& whose,
                       bool may_be_unlabelled = true);

struct AddOptions {
  std::vector<std::string> files;
  GivenLabels given;                // what `labels` are made of
  std::vector<std::string> labels;  // none: unlabelled
  std::string split;                // empty: chosen by content
  bool as_spelled = false;          // labels are others if they differ in case alone
  std::string step;                 // calls in a row of one step are undone together
  bool dry_run = false;             // moild tries them, and keeps nothing
};

struct Added {
  Spelling spelling;  // asked once for all calls
  int added = 0, failed = 0;
  int mostly_silent = 0;         // of the recordings that were added
  Json samples = Json::array();  // as label.add told of each, with "file"
};

// By the share of a sound that is silent, by a guess at the model's own floor; null: it is not
// known.
[[nodiscard]] bool is_mostly_silent(const Json& share);
inline const std::string kMostlySilent =
    "mostly silent (softer than -60 dB), which teaches nothing";

// Denials as people read them.
[[nodiscard]] std::string spoken_labels(const Json& labels);

// A step that no other call is of.
[[nodiscard]] std::string new_step();

// A file of the user's that is open already: whatever its name leads to since, this is what is
// sent.
struct OpenSample {
  std::filesystem::path path;
  UniqueFd file;
};

// Sends the files in one request under the options' labels and split, at most kFilesAtOnce, and
// adds what came of it to `all`.
void add_open_files(Session& session, const AddOptions& options, std::span<const OpenSample> files,
                    Added& all);
// The same of any number of files by their names.
// `done` of `of` stand before them in the bar.
void add_files(Session& session, const AddOptions& options,
               std::span<const std::filesystem::path> files, Added& all, std::size_t done,
               std::size_t of);
// "3 added, 1 known already, 2 refused": what there is of it
[[nodiscard]] std::string summary_of(const Added& all);

}  // namespace moil::daemon::ctl
