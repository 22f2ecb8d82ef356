// moilctl schedule add|list|show|enable|disable|rm|run
#include <sysexits.h>

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {
namespace {

struct FileOptions {
  std::string file;
};

struct NameOptions {
  std::string name;
  bool yes = false;  // of rm
};

std::string when(const Json& schedule) {
  const std::string next = cell(schedule["next_at"]);
  const Json& why = schedule["why_not"];
  return why.is_null() ? next : next + ", but " + cell(why);
}

int add(Session& session, const FileOptions& options) {
  const Json reply =
      session.call("schedule.add", {{"schedule", read_schedule_description(options.file)}});
  if (!session.printed_json(reply))
    session.console.print("schedule " + cell(reply["name"]) + " added; next: " + when(reply));
  return EX_OK;
}

int list(Session& session, const NameOptions&) {
  const Json reply = session.list("schedule.list", Json::object(), "schedules");
  if (session.printed_json(reply)) return EX_OK;
  std::vector<std::vector<std::string>> rows{
      {"NAME", "MODEL", "EVERY", "LAST JOB", "NEXT", "WHY NOT"}};
  for (const Json& s : reply["schedules"]) {
    const std::string why = s["why_not"].is_null() ? s["remark"] : s["why_not"];
    rows.push_back({cell(s["name"]), cell(s["job"]["model"]), cell(s["every"]), cell(s["last_job"]),
                    cell(s["next_at"]), why});
  }
  session.console.table(rows);
  return EX_OK;
}

int show_schedule(Session& session, const NameOptions& options) {
  const Json reply = session.call("schedule.get", {{"name", options.name}});
  if (session.printed_json(reply)) return EX_OK;
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : reply.items())
    if (name != "job") rows.push_back({name, cell(value)});
  rows.push_back({"job", cell(reply["job"]["name"]) + ", of model " + cell(reply["job"]["model"])});
  session.console.table(rows);
  return EX_OK;
}

int switched(Session& session, const std::string& name, bool enabled) {
  const Json reply = session.call("schedule.enable", {{"name", name}, {"enabled", enabled}});
  if (!session.printed_json(reply))
    session.console.print("schedule " + name + (enabled ? " is enabled" : " is disabled"));
  return EX_OK;
}

int enable(Session& session, const NameOptions& options) {
  return switched(session, options.name, true);
}

int disable(Session& session, const NameOptions& options) {
  return switched(session, options.name, false);
}

int rm(Session& session, const NameOptions& options) {
  if (!options.yes) {
    (void)session.call("schedule.get", {{"name", options.name}});  // whether there is one
    session.require_consent(false, "remove the schedule " + options.name +
                                       " with its description (\"moilctl schedule disable\" "
                                       "keeps it)");
  }
  const Json reply = session.call("schedule.rm", {{"name", options.name}});
  if (!session.printed_json(reply))
    session.console.print("schedule " + options.name + " removed; its jobs stay");
  return EX_OK;
}

int run(Session& session, const NameOptions& options) {
  const Json reply = session.call("schedule.run", {{"name", options.name}});
  if (!session.printed_json(reply)) session.console.print("job " + cell(reply["id"]) + " queued");
  return EX_OK;
}

}  // namespace

void add_schedule_commands(cli::Command app, Action& chosen) {
  cli::Command group =
      app.add_subcommand("schedule", "nights that come back by themselves").group(kLearning);
  group.require_subcommand(1);

  const auto added = std::make_shared<FileOptions>();
  cli::Command command = add_command(group, "add", "from a description", chosen, added, add);
  command.add_option("FILE", added->file, "the schedule (JSON, docs/schedules.md)").required();

  const auto listed = std::make_shared<NameOptions>();
  add_command(group, "list", "all, and when each comes next", chosen, listed, list);

  struct Named {
    const char *name, *help;
    int (*run)(Session&, const NameOptions&);
  };
  for (const Named& c :
       {Named{"show", "one of them", show_schedule}, Named{"enable", "let it come", enable},
        Named{"disable", "let it rest", disable}, Named{"rm", "remove it; its jobs stay", rm},
        Named{"run", "queue its job now", run}}) {
    const auto named = std::make_shared<NameOptions>();
    command = add_command(group, c.name, c.help, chosen, named, c.run);
    command.add_option("NAME", named->name, "the schedule").required();
    if (c.name == std::string_view("rm")) add_yes(command, named->yes);
    if (c.name == std::string_view("show")) command.alias("get");
  }
}

}  // namespace moil::daemon::ctl
