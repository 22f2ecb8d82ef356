#include "daemon/ctl/setup/installed_network.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/files/file.h"
#include "base/this_program.h"
#include "daemon/json/fields.h"
#include "daemon/json/parse.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

constexpr int kNetworkNesting = 4;

struct NetworkFile {
  std::string kind, title, licence;
  bool is_default = false;
};

const Fields<NetworkFile>& fields_of(const NetworkFile*) {
  static const Fields<NetworkFile> table = {
      field("kind", &NetworkFile::kind, Need::kRequired),
      field("title", &NetworkFile::title),
      field("licence", &NetworkFile::licence),
      field("default", &NetworkFile::is_default),
  };
  return table;
}

InstalledNetwork read_network(const fs::path& folder) {
  const fs::path file = folder / "network.json";
  const std::string name = folder.filename().string();
  try {
    const auto read =
        read_fields<NetworkFile>(parse_json(read_text(file), kNetworkNesting), "the network");
    return {name,         folder,         read.kind, read.title.empty() ? name : read.title,
            read.licence, read.is_default};
  } catch (const Error& error) {
    throw Error(ErrorCode::kBadData, file.string() + ": " + error.what());
  }
}

std::string names_of(const std::vector<InstalledNetwork>& networks) {
  std::string text;
  for (const InstalledNetwork& network : networks)
    text += (text.empty() ? "" : ", ") + network.name;
  return text;
}

}  // namespace

fs::path networks_folder() {
  if (const char* named = std::getenv("MOILD_NETWORKS")) return named;
  return this_program().parent_path().parent_path() / "share/moild/networks";
}

std::vector<InstalledNetwork> installed_networks(const fs::path& folder) {
  std::vector<InstalledNetwork> networks;
  if (!fs::is_directory(folder)) return networks;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (fs::exists(entry.path() / "network.json")) networks.push_back(read_network(entry.path()));
  std::ranges::sort(networks, {}, &InstalledNetwork::name);
  return networks;
}

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
  if (fitting.empty())
    throw Error(ErrorCode::kNotFound,
                "no network for " + usual_name(kind) +
                    " is installed: install the package moild-models, or name a model's folder "
                    "with --model");
  const auto usual = std::ranges::find(fitting, true, &InstalledNetwork::is_default);
  return usual == fitting.end() ? fitting.front() : *usual;
}

fs::path model_folder_for(const std::string& kind, const std::string& named) {
  if (!named.empty() && fs::exists(fs::path(named) / "model.json"))
    return fs::absolute(named).lexically_normal();
  return network_for(kind, named, installed_networks(networks_folder())).folder / "model";
}

}  // namespace moil::daemon::ctl
