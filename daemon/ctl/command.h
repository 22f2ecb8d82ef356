// A sub-command of moilctl: how it hangs into the command line and what it does. ctl/*_commands.cc
// fill the table.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/command_line/command_line.h"
#include "daemon/client/session.h"
#include "daemon/ctl/console.h"
#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {

// What every command gets: the daemon and the terminal.
class Session : public ClientSession {
 public:
  bool json = false;  // print results as JSON

  Console console;

  // Prints the document if --json was given; says whether it did.
  bool printed_json(const Json& document);
  // The same on one line, for commands that print more than one document (JSON Lines).
  bool printed_json_line(const Json& document);

  // Before what cannot be taken back: asks, unless `yes` says it already. what: "forget 3 samples
  // for good". kFailedPrecondition if there is nobody to ask, kCancelled if the answer is no.
  void require_consent(bool yes, const std::string& what);
};

struct NoOptions {};  // of a command that takes none

// Headings in the help, in its order: commands stand below them in the order in which they are
// added.
inline constexpr const char* kEveryday = "What everyone needs";
inline constexpr const char* kLearning = "Labels, nights and models";
inline constexpr const char* kDevice = "The device and moild itself";

// Runs after the command line was read; the exit status.
using Action = std::function<int(Session&)>;

// Adds the group's sub-commands; the one given on the command line sets `chosen`.
void add_status_command(cli::Command app, Action& chosen);
void add_review_command(cli::Command app, Action& chosen);
void add_predict_command(cli::Command app, Action& chosen);
void add_listen_command(cli::Command app, Action& chosen);
void add_report_command(cli::Command app, Action& chosen);
void add_doctor_command(cli::Command app, Action& chosen);
void add_job_commands(cli::Command app, Action& chosen);
void add_schedule_commands(cli::Command app, Action& chosen);
void add_logs_command(cli::Command app, Action& chosen);
void add_plan_command(cli::Command app, Action& chosen);
void add_learn_command(cli::Command app, Action& chosen);
void add_label_commands(cli::Command app, Action& chosen);
void add_label_step_commands(cli::Command group, Action& chosen);      // of the group "label"
void add_label_exchange_commands(cli::Command group, Action& chosen);  // of the group "label"
void add_label_watch_command(cli::Command group, Action& chosen);      // of the group "label"
void add_label_cut_command(cli::Command group, Action& chosen);        // of the group "label"
void add_old_review_command(cli::Command group, Action& chosen);       // of the group "label"
void add_label_study_commands(cli::Command group, Action& chosen);     // of the group "label"
// label map --suggest. model: empty if there is only one.
int show_meanings(Session& session, const std::string& model);
void add_model_commands(cli::Command app, Action& chosen);
void add_model_life_commands(cli::Command group, Action& chosen);  // of the group "model"
void add_pack_commands(cli::Command app, Action& chosen);
void add_pack_make_command(cli::Command group, Action& chosen);  // of the group "pack"
void add_cache_commands(cli::Command app, Action& chosen);
void add_system_commands(cli::Command app, Action& chosen);
void add_room_commands(cli::Command app, Action& chosen);
void add_backup_commands(cli::Command app, Action& chosen);
void add_setup_command(cli::Command app, Action& chosen);
void add_add_command(cli::Command app, Action& chosen);
void add_words_command(cli::Command app, Action& chosen);  // hidden

// A sub-command `name` of `parent` with its own variables, kept alive by the action.
template <class Options>
cli::Command add_command(cli::Command parent, const std::string& name, const std::string& help,
                         Action& chosen, std::shared_ptr<Options> options,
                         int (*run)(Session&, const Options&)) {
  cli::Command command = parent.add_subcommand(name, help);
  command.callback([&chosen, options, run] {
    chosen = [options, run](Session& session) { return run(session, *options); };
  });
  return command;
}

// The flag of a command that asks before what cannot be taken back.
void add_yes(const cli::Command& command, bool& yes);

// The description of a job, or of a schedule with its job; a relative global.pack is meant from the
// description's folder.
Json read_job_description(const std::string& file);
Json read_schedule_description(const std::string& file);

// An open file of the user's, which the daemon reads through our descriptor and needs no access of
// its own for. Throws if it cannot be opened.
UniqueFd open_sample(const std::string& file);

}  // namespace moil::daemon::ctl
