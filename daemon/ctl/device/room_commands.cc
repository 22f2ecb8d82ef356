// moilctl disk, moilctl clean: what takes room in the state folder, and less of it
#include <sysexits.h>

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {
namespace {

struct DiskOptions {};

struct CleanOptions {
  bool dry_run = false;
};

int disk(Session& session, const DiskOptions&) {
  const Json reply = session.list("system.disk", Json::object(), "versions");
  if (session.printed_json(reply)) return EX_OK;
  Rows rows{{"WHAT", "SIZE"}};
  for (const auto& [part, bytes] : reply["parts"].items())
    rows.push_back({part, bytes_cell(bytes)});
  rows.push_back({"all", bytes_cell(reply["bytes"])});
  rows.push_back({"free on the disk", bytes_cell(reply["free_bytes"])});
  session.console.table(rows);
  Rows versions{{"MODEL", "VERSION", "SIZE", ""}};
  for (const Json& v : reply["versions"]) {
    std::string mark = v["active"] == true ? "in service" : "";
    if (v["pinned"] == true) mark += mark.empty() ? "pinned" : ", pinned";
    versions.push_back({cell(v["model"]), cell(v["version"]), bytes_cell(v["bytes"]), mark});
  }
  if (versions.size() == 1) return EX_OK;
  session.console.print("");
  session.console.table(versions);
  return EX_OK;
}

std::string room_text(const Json& count, const char* what) {
  return counted(count["count"], what) + " (" + bytes_cell(count["bytes"]) + ")";
}

int clean(Session& session, const CleanOptions& options) {
  const Json reply = session.call("system.clean", {{"dry_run", options.dry_run}});
  if (session.printed_json(reply)) return EX_OK;
  Console& console = session.console;
  Rows rows;
  for (const Json& item : reply["items"])
    rows.push_back({cell(item["what"]), printable(cell(item["name"])), bytes_cell(item["bytes"]),
                    printable(cell(item["why"]))});
  if (!rows.empty()) console.table(rows);
  if (reply["more"] != 0) console.print("and " + cell(reply["more"]) + " more");
  const std::string done = options.dry_run ? "would be removed: " : "removed: ";
  console.print(done + room_text(reply["versions"], "version") + ", " +
                room_text(reply["jobs"], "job") + ", " + room_text(reply["leftovers"], "leftover") +
                ", " + room_text(reply["cache"], "feature map"));
  if (const Json& user = reply["cache"]["in_use_by"]; !user.is_null())
    console.note("job " + cell(user) + " is using the cache, which was left as it is");
  return EX_OK;
}

}  // namespace

void add_room_commands(cli::Command app, Action& chosen) {
  add_command(app, "disk", "what takes room on the disk", chosen, std::make_shared<DiskOptions>(),
              disk)
      .group(kDevice);
  const auto options = std::make_shared<CleanOptions>();
  cli::Command command =
      add_command(app, "clean", "remove what is not kept", chosen, options, clean).group(kDevice);
  command.add_flag("--dry-run", options->dry_run, "only say what that would be");
}

}  // namespace moil::daemon::ctl
