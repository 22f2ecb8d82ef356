// moilctl setup FOLDER: from a folder of samples to a model that learns them tonight and from then
// on
#include <sysexits.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/setup/setup_steps.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

struct SetupOptions {
  std::string folder, name, model, pack;
  bool dry_run = false;
};

fs::path absolute_path(const std::string& path) { return fs::absolute(path).lexically_normal(); }

bool is_a_model(const fs::path& folder) { return fs::exists(folder / "model.json"); }

SetupWanted wanted_of(const SetupOptions& options, const std::string& kind) {
  SetupWanted wanted;
  wanted.folder = absolute_path(options.folder);
  wanted.name = options.name.empty() ? usual_name(kind) : options.name;
  if (!options.pack.empty()) wanted.pack = absolute_path(options.pack);
  if (is_a_model(options.model)) {
    wanted.model = absolute_path(options.model);
  } else {
    const InstalledNetwork network =
        network_for(kind, options.model, installed_networks(networks_folder()));
    wanted.model = network.folder / "model";
  }
  return wanted;
}

bool has_model(Session& session, const std::string& name) {
  const Json models = session.list("model.list", Json::object(), "models")["models"];
  return std::ranges::any_of(models, [&](const Json& model) { return model["model"] == name; });
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

int setup(Session& session, const SetupOptions& options) {
  if (!fs::is_directory(options.folder))
    throw Error(ErrorCode::kNotFound, options.folder + ": there is no such folder");
  const FolderContent content = look_into(options.folder);
  if (content.samples() == 0)
    throw Error(ErrorCode::kNotFound, options.folder + ": it holds " + content.in_words() +
                                          "; setup takes a folder of samples, in sub-folders that "
                                          "are named by what they show");
  const SetupWanted wanted = wanted_of(options, content.kind());
  session.console.note(options.folder + ": " + content.in_words());
  const bool is_there = has_model(session, wanted.name);
  const std::vector<SetupStep> steps = setup_steps(wanted, content, is_there);
  if (options.dry_run) {
    for (const SetupStep& step : steps) tell(session, step);
    return EX_OK;
  }
  const int status = run_steps(session, steps);
  if (status != EX_OK && status != EX_DATAERR) return status;
  session.console.note(
      content.labels.empty()
          ? "\nnext: say what they show, with moilctl label review"
          : "\nnext: moilctl predict FILE says what the model takes it for; nights go on by "
            "themselves (moilctl status)");
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
      .add_option("FOLDER", options->folder,
                  "photos or sounds, in sub-folders that are named by what they show")
      .required();
  command.add_option("--name=NAME", options->name,
                     "the model's name on this device: \"photos\" or \"sounds\" if left out");
  command.add_option("--model=MODEL", options->model,
                     "an installed network's name, or a model's folder; the usual one of the kind "
                     "if left out");
  command.add_option("--pack=DIR", options->pack,
                     "the global pack of the nights; what lies beside the model if left out");
  command.add_flag("--dry-run", options->dry_run, "only say which commands it consists of");
}

}  // namespace moil::daemon::ctl
