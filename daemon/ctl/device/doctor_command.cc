// moilctl doctor: what is wrong with the device or moild, and what to do about it.
#include <sys/wait.h>
#include <sysexits.h>

#include <cstdio>

#include "base/this_program.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/device/stuck_processes.h"
#include "daemon/schedule/world.h"

namespace moil::daemon::ctl {
namespace {

constexpr int kProblemFound = 1;

struct DoctorOptions {
  bool quiet = false;
};

// What `moild --check` says of the configuration that moild would read; empty if it is right.
std::string configuration_complaint() {
  const std::string command =
      "'" + (this_program().parent_path() / "moild").string() + "' --check 2>&1 >/dev/null";
  FILE* output = ::popen(command.c_str(), "re");
  if (output == nullptr) return "";
  std::string text;
  char chunk[4096];
  while (std::fgets(chunk, sizeof chunk, output) != nullptr) text += chunk;
  const int status = ::pclose(output);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != EX_CONFIG) return "";
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

void add_stuck(Json& reply, const std::vector<StuckProcess>& stuck) {
  if (stuck.empty()) return;
  const Json finding = {{"what", "stuck-processes"},
                        {"level", "warning"},
                        {"says", "these processes wait all the time: " + names_of(stuck)},
                        {"remedy",
                         "see to the network or FUSE mount, or the disk, that they wait "
                         "for (findmnt, dmesg)"}};
  reply["findings"].push_back(finding);
  reply["warnings"] = reply["warnings"].get<int>() + 1;
}

// If moild does not answer, that is the finding.
Json examined(Session& session) {
  try {
    (void)session.client();
  } catch (const Error& error) {
    const Json finding = {{"what", "moild"},
                          {"level", "problem"},
                          {"says", error.what()},
                          {"remedy", "systemctl status moild; journalctl -u moild -e"}};
    Json findings = {finding};
    if (const std::string complaint = configuration_complaint(); !complaint.empty())
      findings.push_back({{"what", "configuration"},
                          {"level", "problem"},
                          {"says", complaint},
                          {"remedy",
                           "mend the file (moild --check looks again), then systemctl "
                           "restart moild"}});
    const std::size_t problems = findings.size();
    return {{"problems", problems}, {"warnings", 0}, {"findings", std::move(findings)}};
  }
  session.console.note("moilctl: measuring, some seconds");
  const auto before = stuck_processes(device_root());
  Json reply = session.call("system.doctor", Json::object());
  add_stuck(reply, in_both(before, stuck_processes(device_root())));
  return reply;
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
  session.console.print(counted(reply["problems"], "problem") + ", " +
                        counted(reply["warnings"], "warning"));
  return status;
}

}  // namespace

void add_doctor_command(cli::Command app, Action& chosen) {
  const auto options = std::make_shared<DoctorOptions>();
  add_command(app, "doctor", "look for what is wrong, and say what to do", chosen, options, doctor)
      .group(kEveryday)
      .example("moilctl doctor")
      .add_flag("-q,--quiet", options->quiet, "only what is wrong");
}

}  // namespace moil::daemon::ctl
