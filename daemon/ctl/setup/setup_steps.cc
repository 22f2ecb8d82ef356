#include "daemon/ctl/setup/setup_steps.h"

#include <algorithm>

#include "base/error.h"

namespace moil::daemon::ctl {
namespace {

std::string names_of(const std::vector<InstalledNetwork>& networks) {
  std::string text;
  for (const InstalledNetwork& network : networks)
    text += (text.empty() ? "" : ", ") + network.name;
  return text;
}

[[noreturn]] void fail_without(const std::string& kind) {
  if (kind == "rows")
    throw Error(ErrorCode::kNotFound,
                "no network that is ready made reads numbers, for each table has columns of its "
                "own; train one from it (moil-pretrain train --data TABLE.csv --label-column "
                "COLUMN ...), then moilctl model import");
  throw Error(ErrorCode::kNotFound,
              "no network for " + usual_name(kind) +
                  " is installed: install the package moild-models, or name a model's folder with "
                  "--model");
}

}  // namespace

std::string usual_name(const std::string& kind) {
  return kind == "sound" ? "sounds" : kind == "rows" ? "numbers" : "photos";
}

InstalledNetwork network_for(const std::string& kind, const std::string& named,
                             const std::vector<InstalledNetwork>& installed) {
  if (!named.empty()) {
    const auto found = std::ranges::find(installed, named, &InstalledNetwork::name);
    if (found == installed.end())
      throw Error(ErrorCode::kNotFound,
                  "no network \"" + named + "\" is installed" +
                      (installed.empty() ? "" : "; there are " + names_of(installed)) +
                      "; a model's folder may be named as well");
    if (found->kind != kind)
      throw Error(ErrorCode::kInvalidArgument, named + " takes " + usual_name(found->kind) +
                                                   ", and the folder holds mostly " +
                                                   usual_name(kind));
    return *found;
  }
  std::vector<InstalledNetwork> fitting = installed;
  std::erase_if(fitting, [&](const InstalledNetwork& network) { return network.kind != kind; });
  if (fitting.empty()) fail_without(kind);
  const auto usual = std::ranges::find(fitting, true, &InstalledNetwork::is_default);
  return usual == fitting.end() ? fitting.front() : *usual;
}

std::vector<SetupStep> setup_steps(const SetupWanted& wanted, const FolderContent& content,
                                   bool has_model) {
  std::vector<SetupStep> steps;
  if (!has_model) {
    Words words{"model", "import", wanted.model, "--name", wanted.name, "--nightly"};
    if (!wanted.pack.empty()) words.insert(words.end(), {"--pack", wanted.pack});
    steps.push_back({"the network, and a night whenever there are new labels", words});
  }
  steps.push_back({content.labels.empty() ? "the samples, whose labels are said later"
                                          : "the samples, each folder's name as their label",
                   {"label", "import", wanted.folder.string()},
                   "the others are added"});
  if (!content.labels.empty())
    steps.push_back({"the new labels, at once",
                     {"learn", wanted.name},
                     "the next night learns them",
                     /*is_needed=*/false});
  return steps;
}

}  // namespace moil::daemon::ctl
