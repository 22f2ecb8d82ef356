// moilctl cache stats|clean|verify, moilctl status|metrics|methods
#include <sysexits.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "daemon/ctl/command.h"
#include "daemon/ctl/device/next_step.h"
#include "daemon/ctl/device/status_report.h"
#include "daemon/ctl/device/stuck_processes.h"
#include "daemon/rpc/error.h"
#include "daemon/schedule/world.h"

namespace moil::daemon::ctl {
namespace {

struct FlagOptions {
  bool flag = false;
  bool yes = false;  // of clean
};

int cache_stats(Session& session, const NoOptions&) {
  const Json reply = session.list("cache.stats", Json::object(), "models");
  if (session.printed_json(reply)) return EX_OK;
  const double quota = reply["quota_bytes"];
  session.console.table({{"feature maps", cell(reply["entries"])},
                         {"size", bytes_text(reply["bytes"])},
                         {"quota", quota > 0 ? bytes_text(quota) : "none"},
                         {"on disk", bytes_text(reply["disk_bytes"])}});
  std::vector<std::vector<std::string>> rows{{"BACKBONE", "MAPS", "SIZE", "LAST USED", "WHAT"}};
  for (const Json& model : reply["models"]) {
    rows.push_back({cell(model["id"]), cell(model["entries"]), bytes_text(model["bytes"]),
                    cell(model["last_used"]), cell(model["description"])});
  }
  if (rows.size() > 1) session.console.table(rows);
  return EX_OK;
}

int cache_clean(Session& session, const FlagOptions& options) {
  if (options.flag)
    session.require_consent(options.yes,
                            "remove all feature maps, which the next night computes again");
  const Json reply = session.call("cache.gc", {{"all", options.flag}});
  if (!session.printed_json(reply)) {
    session.console.print(counted(reply["removed_entries"], "feature map") + " removed, " +
                          bytes_text(reply["removed_bytes"]) + " freed");
  }
  return EX_OK;
}

int cache_verify(Session& session, const FlagOptions& options) {
  const Json reply = session.call("cache.verify", {{"repair", options.flag}});
  if (!session.printed_json(reply)) {
    session.console.print(counted(reply["entries"], "feature map") + " checked, " +
                          cell(reply["bad_entries"]) + " bad");
    for (const Json& bad : reply["bad"]) {
      session.console.print(cell(bad["key"]) + ": " + cell(bad["what"]));
    }
    for (const Json& text : reply["structure"]) session.console.print(cell(text));
  }
  return reply["ok"] == true || options.flag ? EX_OK : EX_DATAERR;
}

// An older daemon has no overview.
Json overview_of(Session& session) {
  try {
    return session.call("system.overview", Json::object());
  } catch (const ReplyError& error) {
    if (error.error().value("code", 0) != kMethodNotFound) throw;
    return nullptr;
  }
}

// Whether jobs wait, or waited, because other work stands still.
bool work_waits(const Json& status) {
  const auto is_it = [](const Json& what) { return what == "io" || what == "memory"; };
  const Json& window = status["window"];
  if (is_it(window.value("nights_waited_for", Json()))) return true;
  return std::ranges::any_of(window.value("waited", Json::array()),
                             [&](const Json& waited) { return is_it(waited["for"]); });
}

std::string next_step_of(Session& session, const Json& overview) {
  Standing standing{.overview = overview, .models = {}};
  standing.models = session.list("model.list", Json::object(), "models")["models"];
  const Json reply = session.list("label.list", Json::object(), "labels");
  for (const Json& label : reply["labels"])
    standing.labelled += label["samples"].get<std::int64_t>();
  standing.unlabelled = reply.value("unlabelled", std::int64_t{0});
  return next_step(standing);
}

int status(Session& session, const NoOptions&) {
  Json reply = session.call("system.status", Json::object());
  const Json overview = overview_of(session);
  const std::string next = next_step_of(session, overview);
  if (session.json) {
    reply["overview"] = overview;
    reply["next_step"] = next;
  }
  if (session.printed_json(reply)) return EX_OK;
  Rows rows = status_rows(reply, overview);
  if (work_waits(reply)) {
    const auto before = stuck_processes(device_root());
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const auto stuck = in_both(before, stuck_processes(device_root()));
    if (!stuck.empty())
      rows.push_back({"ATTENTION",
                      "these processes wait without an end, for a mount or a disk that "
                      "does not answer: " +
                          printable(names_of(stuck))});
  }
  rows.push_back({"next step", printable(next)});
  session.console.table(rows);
  return EX_OK;
}

int metrics(Session& session, const NoOptions&) {
  const Json reply = session.call("system.metrics", Json::object());
  if (session.printed_json(reply)) return EX_OK;
  std::string text = reply["text"];
  if (text.ends_with('\n')) text.pop_back();
  session.console.print(text);
  return EX_OK;
}

int methods(Session& session, const NoOptions&) {
  const Json reply = session.call("system.methods", Json::object());
  if (session.printed_json(reply)) return EX_OK;
  std::vector<std::vector<std::string>> rows{{"METHOD", "SINCE", "ROLE", "WHAT"}};
  for (const Json& method : reply["methods"]) {
    rows.push_back({cell(method["name"]), cell(method["since"]), cell(method.value("role", Json())),
                    cell(method["summary"])});
  }
  session.console.table(rows);
  return EX_OK;
}

}  // namespace

void add_cache_commands(cli::Command app, Action& chosen) {
  cli::Command group = app.add_subcommand("cache", "the cache of feature maps").group(kDevice);
  group.require_subcommand(1);
  add_command(group, "stats", "what it holds", chosen, std::make_shared<NoOptions>(), cache_stats);
  const auto collected = std::make_shared<FlagOptions>();
  cli::Command clean =
      add_command(group, "clean", "remove what is no longer used", chosen, collected, cache_clean)
          .alias("gc");
  clean.add_flag("--all", collected->flag, "what recent nights used, too");
  add_yes(clean, collected->yes);
  const auto verified = std::make_shared<FlagOptions>();
  add_command(group, "verify", "check every feature map", chosen, verified, cache_verify)
      .add_flag("--repair", verified->flag, "remove bad ones");
}

void add_status_command(cli::Command app, Action& chosen) {
  add_command(app, "status", "what runs, was and comes, and what is best done next", chosen,
              std::make_shared<NoOptions>(), status)
      .group(kEveryday)
      .example("moilctl status");
}

void add_system_commands(cli::Command app, Action& chosen) {
  add_command(app, "metrics", "figures for Prometheus", chosen, std::make_shared<NoOptions>(),
              metrics)
      .group(kDevice);
  add_command(app, "methods", "what the daemon understands", chosen, std::make_shared<NoOptions>(),
              methods)
      .group(kDevice);
}

}  // namespace moil::daemon::ctl
