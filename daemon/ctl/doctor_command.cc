// moilctl doctor: what is wrong with the device or moild, and what to do about it.
#include <sysexits.h>

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {
namespace {

constexpr int kProblemFound = 1;

struct DoctorOptions {
  bool quiet = false;
};

// Where moild does not answer, that is the finding.
Json examined(Session& session) {
  try {
    (void)session.client();
  } catch (const Error& error) {
    const Json finding = {{"what", "moild"},
                          {"level", "problem"},
                          {"says", error.what()},
                          {"remedy", "systemctl status moild; journalctl -u moild -e"}};
    return {{"problems", 1}, {"warnings", 0}, {"findings", {finding}}};
  }
  session.console.note("moilctl: measuring, some seconds");
  return session.call("system.doctor", Json::object());
}

std::string level_text(const std::string& level) {
  if (level == "problem") return "PROBLEM";
  return level == "warning" ? "warning" : "ok";
}

int doctor(Session& session, const DoctorOptions& options) {
  const Json reply = examined(session);
  const int status = reply["problems"] == 0 ? EX_OK : kProblemFound;
  if (session.printed_json(reply)) return status;
  Rows rows;
  for (const Json& finding : reply["findings"]) {
    const std::string level = cell(finding["level"]);
    if (options.quiet && level == "ok") continue;
    rows.push_back({level_text(level), cell(finding["what"]), printable(cell(finding["says"]))});
    if (!finding["remedy"].is_null())
      rows.push_back({"", "", "-> " + printable(cell(finding["remedy"]))});
  }
  session.console.table(rows);
  session.console.print(cell(reply["problems"]) + " problems, " + cell(reply["warnings"]) +
                        " warnings");
  return status;
}

}  // namespace

void add_doctor_command(CLI::App& app, Action& chosen) {
  const auto options = std::make_shared<DoctorOptions>();
  add_command(&app, "doctor", "look for what is wrong, and say what to do", chosen, options, doctor)
      ->add_flag("-q,--quiet", options->quiet, "only what is wrong");
}

}  // namespace moil::daemon::ctl
