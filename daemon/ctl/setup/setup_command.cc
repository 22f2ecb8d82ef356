// moilctl setup FOLDER: from a folder of samples to a model that learns them tonight and from then
// on
#include <sysexits.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/labels/spelling.h"
#include "daemon/ctl/setup/installed_network.h"
#include "daemon/ctl/setup/setup_steps.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

struct SetupOptions {
  std::string source, name, model, pack, label_column;
  bool dry_run = false, undo = false, yes = false, as_spelled = false;
};

fs::path absolute_path(const std::string& path) { return fs::absolute(path).lexically_normal(); }

SetupWanted wanted_of(const SetupOptions& options, const std::string& kind,
                      const ScratchFolder& scratch) {
  SetupWanted wanted{
      absolute_path(options.source), options.name, "", "", scratch.path(), options.as_spelled};
  if (wanted.name.empty()) wanted.name = usual_name(kind);
  wanted.pack = options.pack;
  if (fs::exists(options.pack)) wanted.pack = absolute_path(options.pack);
  // Numbers need no network that is there: one is trained of them.
  if (!options.undo && (kind != "rows" || !options.model.empty()))
    wanted.model = model_folder_for(kind, options.model);
  return wanted;
}

bool is_listed(const Json& list, const char* field, const std::string& name) {
  return std::ranges::any_of(list, [&](const Json& one) { return one[field] == name; });
}

SetupPresent present_of(Session& session, const std::string& name) {
  const Json models = session.list("model.list", Json::object(), "models")["models"];
  const Json packs = session.call("pack.list", Json::object())["packs"];
  return {is_listed(models, "model", name), is_listed(packs, "name", name)};
}

FolderContent content_of(const SetupOptions& options) {
  if (fs::is_regular_file(options.source))
    return look_into_table(options.source, options.label_column);
  if (!options.label_column.empty() && fs::is_directory(options.source))
    throw Error(ErrorCode::kInvalidArgument, options.source + " is a folder, and no table");
  return look_into(options.source,
                   "setup takes a folder of samples, in sub-folders that are named by what they "
                   "show, or a table (CSV)");
}

void tell(Session& session, const SetupStep& step) {
  session.console.note("\n" + step.why + ":\n  " + shell_text(step.words));
}

// EX_DATAERR if a file was refused.
int run_steps(Session& session, const std::vector<SetupStep>& steps) {
  int refused = EX_OK;
  for (const SetupStep& step : steps) {
    tell(session, step);
    const int status = run_own(session, step.words);
    if (status == EX_OK) continue;
    if (step.is_needed && (status != EX_DATAERR || step.if_it_fails.empty())) return status;
    session.console.note(step.if_it_fails);
    if (step.is_needed) refused = status;
  }
  return refused;
}

std::string next_of(const FolderContent& content) {
  if (!content.is_labelled()) return "\nnext: say what they show, with moilctl label review";
  return "\nnext: moilctl predict FILE says what the model takes it for; nights go on by "
         "themselves (moilctl status)";
}

int setup(Session& session, const SetupOptions& options) {
  const FolderContent content = content_of(options);
  const ScratchFolder scratch;
  const SetupWanted wanted = wanted_of(options, content.kind(), scratch);
  session.console.note(options.source + ": " + content.in_words());
  const SetupPresent present = present_of(session, wanted.name);
  const std::vector<SetupStep> steps =
      options.undo ? undo_steps(wanted, content, present) : setup_steps(wanted, content, present);
  if (options.dry_run) {
    for (const SetupStep& step : steps) tell(session, step);
    return EX_OK;
  }
  if (options.undo)
    session.require_consent(options.yes, "remove the model " + wanted.name +
                                             " with its nights, and forget the samples of " +
                                             options.source + ", for good");
  const int status = run_steps(session, steps);
  if (!options.undo && (status == EX_OK || status == EX_DATAERR))
    session.console.note(next_of(content));
  return status;
}

}  // namespace

void add_setup_command(cli::Command app, Action& chosen) {
  const auto options = std::make_shared<SetupOptions>();
  cli::Command command = add_command(
      app, "setup", "from a folder of samples to a model that learns them, now and every night",
      chosen, options, setup);
  command.group(kEveryday).example("moilctl setup ~/Photos");
  command
      .add_option("PATH", options->source,
                  "photos or sounds, in sub-folders that are named by what they show; or a table "
                  "(CSV) with a line of names and a record a line")
      .required();
  command.add_option(
      "--name=NAME", options->name,
      "the model's name on this device: \"photos\", \"sounds\" or \"numbers\" if left out");
  command.add_option("--model=MODEL", options->model,
                     "an installed network's name, or a model's folder; if left out, the usual one "
                     "of the kind, and for numbers one that is trained of them");
  command.add_option("--pack=PACK", options->pack,
                     "the global pack of the nights, a folder or a name of pack list; what lies "
                     "beside the model if left out");
  command.add_option("--label-column=COLUMN", options->label_column,
                     "of a table: what the records are; the last one if left out");
  command.add_flag("--dry-run", options->dry_run, "only say which commands it consists of");
  command.add_flag("--undo", options->undo,
                   "take it back: remove the model and its nights, and forget these samples");
  add_as_spelled(command, options->as_spelled);
  add_yes(command, options->yes);
}

}  // namespace moil::daemon::ctl
