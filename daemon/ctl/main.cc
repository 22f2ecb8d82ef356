// moilctl: the command line of moild. One sub-command a method; exit status from sysexits.
#include <sysexits.h>

#include <iostream>

#include "base/version.h"
#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {
namespace {

int exit_status(const std::string& code) {
  if (code == "invalid_argument") return EX_USAGE;
  if (code == "bad_data") return EX_DATAERR;
  if (code == "not_found") return EX_NOINPUT;
  if (code == "already_exists") return EX_CANTCREAT;
  if (code == "failed_precondition" || code == "unimplemented") return EX_UNAVAILABLE;
  if (code == "resource_exhausted" || code == "cancelled") return EX_TEMPFAIL;
  if (code == "io") return EX_IOERR;
  return EX_SOFTWARE;
}

// One line; where fields of a job description are wrong, one line each, named as in the file.
void report(const Session& session, const ReplyError& error) {
  if (session.json) {
    std::cerr << error.error().dump() << "\n";
    return;
  }
  const Json errors = error.error().value("/data/errors"_json_pointer, Json::array());
  if (errors.empty()) {
    std::cerr << "moilctl: " << error.what() << "\n";
    return;
  }
  for (const Json& wrong : errors) {
    std::string pointer = wrong.value("pointer", "");
    if (pointer.starts_with("/job/")) pointer = pointer.substr(4);
    std::cerr << "moilctl: " << (pointer.empty() ? "" : pointer + ": ")
              << wrong.value("message", "") << "\n";
  }
}

int run(int argc, char** argv) {
  Session session;
  Action chosen;
  CLI::App app{"moilctl speaks to moild, which personalizes neural networks overnight."};
  app.set_version_flag("--version", std::string("moilctl ") + kVersion);
  app.add_option("--socket", session.socket, "moild's socket")
      ->envname("MOILD_SOCKET")
      ->capture_default_str();
  app.add_flag("--json", session.json, "print results as JSON");
  app.require_subcommand(1);
  app.fallthrough();
  for (const auto group :
       {add_job_commands, add_plan_command, add_report_command, add_predict_command,
        add_label_commands, add_model_commands, add_cache_commands, add_system_commands}) {
    group(app, chosen);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EX_OK : EX_USAGE;
  }
  try {
    return chosen(session);
  } catch (const ReplyError& error) {
    session.console.end_bar();
    report(session, error);
    return exit_status(error.code());
  } catch (const Error& error) {
    session.console.end_bar();
    std::cerr << "moilctl: " << error.what() << "\n";
    return exit_status(std::string(to_string(error.code())));
  } catch (const std::exception& error) {
    std::cerr << "moilctl: " << error.what() << "\n";
    return EX_SOFTWARE;
  }
}

}  // namespace
}  // namespace moil::daemon::ctl

int main(int argc, char** argv) { return moil::daemon::ctl::run(argc, argv); }
