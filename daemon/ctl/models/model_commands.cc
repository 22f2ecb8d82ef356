// moilctl model import|list|activate|rollback|anchor|rm; the rest is in model_life_commands.cc
#include <fcntl.h>
#include <sysexits.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "daemon/ctl/command.h"
#include "daemon/spec/model_files.h"

namespace moil::daemon::ctl {
namespace {

struct ModelImportOptions {
  std::string path;
  std::string name;
  bool keep_inactive = false;
  bool nightly = false;
  std::string pack;  // for the nights
};

struct ModelOptions {
  std::string model;
  std::int64_t version = 0;
  bool yes = false;  // of rm
};

// A mark for what learned from samples that were forgotten.
std::string forgotten_text(const Json& v) {
  const auto count = v.value("forgotten", std::int64_t{0});
  if (count == 0) return "";
  return "; learned from " + std::to_string(count) +
         (count == 1 ? " sample that was forgotten" : " samples that were forgotten");
}

std::string absolute(const std::filesystem::path& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

// Of a pack that was copied here; empty if none is called so.
std::string path_of_pack(Session& session, const std::string& name) {
  const Json packs = session.call("pack.list", Json::object())["packs"];
  for (const Json& pack : packs)
    if (pack["name"] == name) return pack["path"];
  return "";
}

// The nights' pack: the one that was named, or what moil-pretrain wrote beside the model.
std::string pack_of(Session& session, const ModelImportOptions& options) {
  if (!options.pack.empty() && !std::filesystem::exists(options.pack))
    if (std::string path = path_of_pack(session, options.pack); !path.empty()) return path;
  if (!options.pack.empty()) return absolute(options.pack);
  const auto beside =
      std::filesystem::path(absolute(options.path + "/")).parent_path().parent_path() / "pack";
  if (std::filesystem::exists(beside / "pack.json")) return beside.string();
  throw Error(ErrorCode::kInvalidArgument,
              "--nightly needs the global pack that nights mix from, and none lies beside the "
              "model; name it with --pack");
}

// A night whenever there is something new.
Json nightly(const ModelImportOptions& options, const std::string& pack) {
  return {{"name", options.name},
          {"only_if", {{"new_labels", 1}, {"changed_pack", true}}},
          {"job", {{"name", options.name}, {"model", options.name}, {"global", {{"pack", pack}}}}}};
}

// Opened here and handed over: the service may not enter every folder of ours. What cannot be
// opened is left out, and the daemon says what it misses.
Json open_files(const std::filesystem::path& folder, std::vector<UniqueFd>& open) {
  Json numbers = Json::object();
  for (const std::string_view name : kModelFiles) {
    UniqueFd file(::open((folder / name).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) continue;
    numbers[std::string(name)] = open.size();
    open.push_back(std::move(file));
  }
  return numbers;
}

// Before anything is imported: whoever asks for both gets both or neither.
void require_no_schedule(Session& session, const std::string& name) {
  const Json schedules = session.list("schedule.list", Json::object(), "schedules")["schedules"];
  const bool is_there = std::ranges::any_of(
      schedules, [&](const Json& schedule) { return schedule.at("name") == name; });
  if (is_there)
    throw Error(ErrorCode::kAlreadyExists,
                "there is a schedule \"" + name +
                    "\" already, which goes on with the model that you import; leave --nightly "
                    "out, or remove it first (\"moilctl schedule rm " +
                    name + "\")");
}

int import_model(Session& session, const ModelImportOptions& options) {
  const std::string path = absolute(options.path);
  const std::string pack = options.nightly ? pack_of(session, options) : "";
  Json params = {{"name", options.name}, {"path", path}, {"activate", !options.keep_inactive}};
  if (options.nightly) {
    require_no_schedule(session, options.name);
    params["pack"] = pack;
  }
  std::vector<UniqueFd> open;
  if (Json files = open_files(path, open); !files.empty()) params["files"] = std::move(files);
  std::vector<int> descriptors;
  for (const UniqueFd& file : open) descriptors.push_back(file.get());
  const Json reply = session.call("model.import", params, descriptors);
  const bool printed =
      options.nightly ? session.printed_json_line(reply) : session.printed_json(reply);
  if (!printed)
    session.console.print(version_title(reply) + " imported: " + cell(reply["summary"]));
  if (!options.nightly) return EX_OK;
  const Json schedule = session.call("schedule.add", {{"schedule", nightly(options, pack)}});
  if (!session.printed_json_line(schedule))
    session.console.print("schedule " + options.name +
                          " added; next: " + cell(schedule["next_at"]));
  return EX_OK;
}

int list(Session& session, const ModelOptions& options) {
  Json params = Json::object();
  if (!options.model.empty()) params["model"] = options.model;
  const Json reply = session.list("model.list", params, "models");
  if (session.printed_json(reply)) return EX_OK;
  std::vector<std::vector<std::string>> rows{
      {"MODEL", "VERSION", "ACTIVE", "GLOBAL", "LOCAL", "CREATED", "SUMMARY"}};
  for (const Json& v : reply["models"]) {
    rows.push_back({cell(v["model"]), cell(v["version"]), v["active"] == true ? "*" : "",
                    global_quality_text(v["metrics"].value("global_after", Json()), v["metrics"]),
                    quality_text(v["metrics"].value("local_after", Json()), v["metrics"]),
                    cell(v["created_at"]), cell(v["summary"]) + forgotten_text(v)});
  }
  session.console.table(rows);
  return EX_OK;
}

int get(Session& session, const ModelOptions& options) {
  const Json reply =
      session.call("model.get", {{"model", options.model}, {"version", options.version}});
  if (session.printed_json(reply)) return EX_OK;
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : reply.items()) rows.push_back({name, cell(value)});
  session.console.table(rows);
  return EX_OK;
}

int activate(Session& session, const ModelOptions& options) {
  const Json reply =
      session.call("model.activate", {{"model", options.model}, {"version", options.version}});
  if (!session.printed_json(reply)) session.console.print(version_title(reply) + " is active");
  return EX_OK;
}

struct RollbackOptions {
  std::string model, why;
};

int rollback(Session& session, const RollbackOptions& options) {
  const Json reply =
      session.call("model.rollback", {{"model", options.model}, {"why", options.why}});
  if (!session.printed_json(reply))
    session.console.print(version_title(reply) + " is active again");
  return EX_OK;
}

// "the schedule nightly", "the schedules a, b"
std::string schedules_text(const Json& names) {
  return (names.size() == 1 ? "the schedule " : "the schedules ") + joined(names);
}

// "remove model pets with its 3 versions and the schedule nightly for good"
std::string whole_text(Session& session, const std::string& model) {
  const Json versions = session.list("model.list", {{"model", model}}, "models")["models"];
  const Json all = session.list("schedule.list", Json::object(), "schedules")["schedules"];
  Json schedules = Json::array();
  for (const Json& schedule : all)
    if (schedule["job"]["model"] == model) schedules.push_back(schedule["name"]);
  const auto count = static_cast<std::int64_t>(versions.size());
  return "remove model " + model + " with its " +
         (count == 1 ? "only version" : counted(count, "version")) +
         (schedules.empty() ? "" : " and " + schedules_text(schedules)) + " for good";
}

int rm_whole(Session& session, const ModelOptions& options) {
  if (!options.yes) session.require_consent(false, whole_text(session, options.model));
  const Json reply = session.call("model.rm", {{"model", options.model}, {"whole", true}});
  if (session.printed_json(reply)) return EX_OK;
  session.console.print(
      "model " + options.model +
      " removed: " + counted(static_cast<std::int64_t>(reply["versions"].size()), "version") +
      (reply["schedules"].empty() ? "" : ", " + schedules_text(reply["schedules"])));
  return EX_OK;
}

int rm(Session& session, const ModelOptions& options) {
  if (options.version == 0) return rm_whole(session, options);
  const Json which{{"model", options.model}, {"version", options.version}};
  if (!options.yes) {
    (void)session.call("model.get", which);  // whether there is one to ask about
    session.require_consent(false, "remove " + version_title(which) + " for good");
  }
  const Json reply = session.call("model.rm", which);
  if (!session.printed_json(reply)) session.console.print(version_title(reply) + " removed");
  return EX_OK;
}

int anchor(Session& session, const ModelOptions& options) {
  const Json reply =
      session.call("model.anchor", {{"model", options.model}, {"version", options.version}});
  if (session.printed_json(reply)) return EX_OK;
  session.console.print(version_title(reply) + " is the anchor: " +
                        (reply["named"] == true ? "it was named" : "it was imported") +
                        "; no night may fall behind it by more than its guard.max_global_drop");
  return EX_OK;
}

}  // namespace

void add_model_commands(cli::Command app, Action& chosen) {
  cli::Command group = app.add_subcommand("model", "models and their versions").group(kLearning);
  group.require_subcommand(1);

  const auto imported = std::make_shared<ModelImportOptions>();
  cli::Command command =
      add_command(group, "import", "take a model from a folder", chosen, imported, import_model);
  command.add_option("DIR", imported->path, "model.json, weights.safetensors, labels.json, ...")
      .required();
  command.add_option("--name", imported->name, "its name in the model store").required();
  command.add_flag("--inactive", imported->keep_inactive, "do not put it in service");
  command.add_flag("--nightly", imported->nightly,
                   "and personalize it in every night that has new labels or a new pack");
  command.add_option("--pack=PACK", imported->pack,
                     "the global pack of these nights, a folder or a name of pack list; what lies "
                     "beside the model if left out");

  const auto listed = std::make_shared<ModelOptions>();
  command = add_command(group, "list", "versions of models", chosen, listed, list);
  command.add_option("MODEL", listed->model, "only of this model");

  const auto shown = std::make_shared<ModelOptions>();
  command = add_command(group, "get", "one version", chosen, shown, get);
  command.group("");  // "show" tells more
  command.add_option("MODEL", shown->model).required();
  command.add_option("VERSION", shown->version, "the active one if left out");

  const auto activated = std::make_shared<ModelOptions>();
  command = add_command(group, "activate", "put a version in service", chosen, activated, activate);
  command.add_option("MODEL", activated->model).required();
  command.add_option("VERSION", activated->version).required();

  const auto removed = std::make_shared<ModelOptions>();
  command = add_command(group, "rm", "remove a model, or one version that is not in service",
                        chosen, removed, rm);
  command.add_option("MODEL", removed->model).required();
  command.add_option("VERSION", removed->version, "the whole model if left out");
  add_yes(command, removed->yes);

  const auto anchored = std::make_shared<ModelOptions>();
  command = add_command(group, "anchor", "the version that no night may fall far behind", chosen,
                        anchored, anchor);
  command.add_option("MODEL", anchored->model).required();
  command.add_option("VERSION", anchored->version, "make it this one; else say which it is");

  const auto back = std::make_shared<RollbackOptions>();
  command = add_command(group, "rollback", "go back to the version before", chosen, back, rollback);
  command.add_option("MODEL", back->model).required();
  command.add_option("--why=REASON", back->why, "kept with the version that is left");
  add_model_life_commands(group, chosen);
}

}  // namespace moil::daemon::ctl
