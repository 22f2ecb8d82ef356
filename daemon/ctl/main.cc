// moilctl: the command line of moild. One sub-command a method; exit status from sysexits.
#include "base/version.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/failure.h"
#include "daemon/manual/manual.h"

namespace moil::daemon::ctl {
namespace {

int run(int argc, char** argv) {
  Session session;
  Action chosen;
  cli::Program app("moilctl speaks to moild, which personalizes neural networks overnight.",
                   "moilctl", std::string("moilctl ") + kVersion);
  app.add_option("--socket=FILE", session.socket, "moild's socket")
      .envname("MOILD_SOCKET")
      .capture_default_str();
  app.add_flag("--json", session.json, "print results as JSON");
  app.require_subcommand(1);
  app.fallthrough();
  for (const auto group :
       {add_setup_command,   add_status_command, add_add_command,     add_review_command,
        add_predict_command, add_listen_command, add_report_command,  add_doctor_command,
        add_label_commands,  add_learn_command,  add_job_commands,    add_schedule_commands,
        add_logs_command,    add_plan_command,   add_model_commands,  add_pack_commands,
        add_room_commands,   add_cache_commands, add_backup_commands, add_system_commands,
        add_words_command}) {
    group(app, chosen);
  }
  // What `moilctl words` tells of what is there now.
  manual::add_manual(app, 1, {},
                     {{"MODEL", "models"},
                      {"--model", "models"},
                      {"JOB", "jobs"},
                      {"ID", "jobs"},
                      {"LABEL", "labels"},
                      {"INTO", "labels"},
                      {"--label", "labels"},
                      {"NAME", "schedules"}});
  if (const auto exit = app.parse(argc, argv, report_usage)) return *exit;
  try {
    return chosen(session);
  } catch (...) {
    return report_failure(session, std::current_exception());
  }
}

}  // namespace
}  // namespace moil::daemon::ctl

int main(int argc, char** argv) { return moil::daemon::ctl::run(argc, argv); }
