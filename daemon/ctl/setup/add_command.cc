// moilctl add PATH...: samples and their labels, as people have them
#include <sysexits.h>

#include <filesystem>

#include "daemon/ctl/command.h"
#include "daemon/ctl/labels/spelling.h"
#include "daemon/ctl/setup/own_command.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

struct ShortAddOptions {
  std::vector<std::string> paths;
  std::string label;
  bool as_spelled = false;
};

// Which commands add them: files and folders under one label; or a folder whose sub-folders are
// labels, and files whose label is said later.
std::vector<Words> commands_of(const ShortAddOptions& options) {
  std::vector<Words> commands;
  Words files{"moilctl", "label", "add"};
  for (const std::string& path : options.paths) {
    if (options.label.empty() && fs::is_directory(path))
      commands.push_back({"moilctl", "label", "import", path});
    else
      files.push_back(path);
  }
  if (files.size() == 3) return commands;
  const Words how = options.label.empty() ? Words{"--unlabelled"} : Words{"--label", options.label};
  files.insert(files.end(), how.begin(), how.end());
  commands.push_back(std::move(files));
  return commands;
}

// The last status that is not 0; the others are run, too.
int add(Session& session, const ShortAddOptions& options) {
  int status = EX_OK;
  for (Words words : commands_of(options)) {
    if (options.as_spelled) words.emplace_back("--as-spelled");
    if (const int one = run_own(session, words); one != EX_OK) status = one;
  }
  return status;
}

}  // namespace

void add_add_command(cli::Command app, Action& chosen) {
  const auto options = std::make_shared<ShortAddOptions>();
  cli::Command command =
      add_command(app, "add", "add samples, and say what they show", chosen, options, add);
  command.group(kEveryday).example("moilctl add cat1.jpg cat2.jpg --label cat");
  command
      .add_option("PATH", options->paths,
                  "files, or folders; a folder's sub-folders are labels, unless --label says what "
                  "all of it is")
      .required();
  command.add_option("--label=LABEL", options->label,
                     "what all of them show; files without it are labelled later (moilctl review)");
  add_as_spelled(command, options->as_spelled);
}

}  // namespace moil::daemon::ctl
