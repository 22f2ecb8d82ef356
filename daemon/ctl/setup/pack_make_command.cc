// moilctl pack make FOLDER: a global pack of samples that nobody has labelled
#include <sysexits.h>

#include <cctype>
#include <filesystem>

#include "daemon/ctl/command.h"
#include "daemon/ctl/setup/folder_content.h"
#include "daemon/ctl/setup/installed_network.h"
#include "daemon/ctl/setup/own_command.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

struct PackMakeOptions {
  std::string folder, name, model;
};

// Of letters that a pack's name may have: "my photos" is my-photos.
std::string name_of(const fs::path& folder) {
  constexpr std::size_t kMost = 64;
  std::string name = folder.filename().string().substr(0, kMost);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_') c = '-';
  if (name.empty() || name[0] == '.') name.insert(0, "pack");
  return name.substr(0, kMost);
}

int make_pack(Session& session, const PackMakeOptions& options) {
  const FolderContent content = look_into(options.folder, "a pack is made of a folder of samples");
  const fs::path folder = fs::absolute(options.folder + "/").lexically_normal().parent_path();
  const std::string name = options.name.empty() ? name_of(folder) : options.name;
  const ScratchFolder scratch;
  const std::string made = scratch.path() / "pack";
  for (const Words& words :
       {Words{"moil-pretrain", "unlabelled-pack", "--model",
              model_folder_for(content.kind(), options.model), "--data", folder, "--out", made},
        Words{"moilctl", "pack", "import", made, "--name", name}}) {
    session.console.note(shell_text(words));
    if (const int status = run_own(session, words); status != EX_OK) return status;
  }
  session.console.note(
      "next: nights mix it in if it is their global.pack; of a new model, moilctl "
      "model import ... --nightly --pack " +
      name);
  return EX_OK;
}

}  // namespace

void add_pack_make_command(cli::Command group, Action& chosen) {
  const auto options = std::make_shared<PackMakeOptions>();
  cli::Command command = add_command(
      group, "make", "from samples that nobody has labelled: the model's answers are the labels",
      chosen, options, make_pack);
  command.add_option("FOLDER", options->folder, "samples of any content, in folders of any name")
      .required();
  command.add_option("--name=NAME", options->name, "the folder's name if left out");
  command.add_option("--model=MODEL", options->model,
                     "whose answers: an installed network's name, or a model's folder; the usual "
                     "one of the kind if left out");
}

}  // namespace moil::daemon::ctl
