// moilctl pack import|list|rm; make is in setup/pack_make_command.cc
#include <fcntl.h>
#include <sysexits.h>

#include <filesystem>

#include "base/error.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "daemon/ctl/command.h"
#include "daemon/rpc/limits.h"

namespace moil::daemon::ctl {
namespace {

struct PackImportOptions {
  std::string path, name;
};

struct PackOptions {
  std::string name;
};

UniqueFd open_of_pack(const std::filesystem::path& file) {
  UniqueFd open(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!open) throw system_error("cannot open " + file.string(), errno);
  return open;
}

// pack.json and the shards that it names, opened here: the service may not enter every folder of
// ours.
Json open_pack(const std::filesystem::path& folder, std::vector<UniqueFd>& open) {
  constexpr std::uint64_t kMostBytes = 64 << 20;
  const Json manifest = json_or_discarded(read_text(folder / "pack.json", kMostBytes));
  if (!manifest.is_object() || !manifest.value("shards", Json()).is_array())
    throw Error(ErrorCode::kBadData, (folder / "pack.json").string() + " describes no pack");
  Json numbers = {{"pack.json", 0}};
  open.push_back(open_of_pack(folder / "pack.json"));
  for (const Json& shard : manifest["shards"]) {
    const Json name = shard.is_object() ? shard.value("file", Json()) : Json();
    if (!name.is_string() || numbers.contains(name.get<std::string>())) continue;
    if (open.size() == kMostFiles)
      throw Error(ErrorCode::kUnimplemented,
                  folder.string() + " has more than " + std::to_string(kMostFiles - 1) +
                      " shards; name it in jobs where it is, in a folder that the service may "
                      "enter");
    numbers[name.get<std::string>()] = open.size();
    open.push_back(open_of_pack(folder / name.get<std::string>()));
  }
  return numbers;
}

std::string width_text(const Json& pack) {
  if (pack["targets"] != "model") return cell(pack["labels"]) + " labels of data";
  const std::string labels = cell(pack["labels"]) + " labels of the model";
  if (pack["reached"] == 0) return labels + ", described by its classifier";
  return "samples reach " + cell(pack["reached"]) + " of " + labels;
}

std::string pack_title(const Json& pack) {
  return "pack " + cell(pack["name"]) + ": " + cell(pack["train"]) + " " +
         cell(pack["samples_are"]) + " samples, " + cell(pack["held_out"]) + " held out, " +
         width_text(pack) + "; " + cell(pack["path"]);
}

int import_pack(Session& session, const PackImportOptions& options) {
  const auto folder =
      std::filesystem::absolute(options.path + "/").lexically_normal().parent_path();
  const std::string name = options.name.empty() ? folder.filename().string() : options.name;
  std::vector<UniqueFd> open;
  Json files = open_pack(folder, open);
  std::vector<int> descriptors;
  for (const UniqueFd& file : open) descriptors.push_back(file.get());
  const Json reply = session.call(
      "pack.import", {{"name", name}, {"path", folder.string()}, {"files", std::move(files)}},
      descriptors);
  if (!session.printed_json(reply)) session.console.print(pack_title(reply));
  return EX_OK;
}

int list_packs(Session& session, const NoOptions&) {
  const Json reply = session.call("pack.list", Json::object());
  if (session.printed_json(reply)) return EX_OK;
  std::vector<std::vector<std::string>> rows{
      {"PACK", "SAMPLES", "HELD OUT", "OF", "BYTES", "WIDTH", "PATH"}};
  for (const Json& pack : reply["packs"])
    rows.push_back({cell(pack["name"]), cell(pack["train"]), cell(pack["held_out"]),
                    cell(pack["samples_are"]), bytes_cell(pack["bytes"]), width_text(pack),
                    cell(pack["path"])});
  session.console.table(rows);
  return EX_OK;
}

int rm_pack(Session& session, const PackOptions& options) {
  const Json reply = session.call("pack.rm", {{"name", options.name}});
  if (!session.printed_json(reply)) session.console.print("pack " + options.name + " removed");
  return EX_OK;
}

}  // namespace

void add_pack_commands(cli::Command app, Action& chosen) {
  cli::Command group =
      app.add_subcommand("pack", "global packs in the state folder").group(kLearning);
  group.require_subcommand(1);

  const auto imported = std::make_shared<PackImportOptions>();
  cli::Command command = add_command(group, "import", "copy a pack here, from wherever it is",
                                     chosen, imported, import_pack);
  command.add_option("DIR", imported->path, "the pack's folder").required();
  command.add_option("--name", imported->name, "the folder's name if left out");

  add_pack_make_command(group, chosen);

  add_command(group, "list", "packs that were copied here", chosen, std::make_shared<NoOptions>(),
              list_packs);

  const auto removed = std::make_shared<PackOptions>();
  command =
      add_command(group, "rm", "remove a pack that nothing mixes from", chosen, removed, rm_pack);
  command.add_option("PACK", removed->name).required();
}

}  // namespace moil::daemon::ctl
