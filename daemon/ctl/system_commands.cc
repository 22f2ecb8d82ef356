// moilctl cache stats|gc|verify, moilctl status, moilctl methods
#include <sysexits.h>

#include <cstdio>

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {
namespace {

struct NoOptions {};

struct FlagOptions {
  bool flag = false;
};

int cache_stats(Session& session, const NoOptions&) {
  const Json reply = session.call("cache.stats", Json::object());
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

int cache_gc(Session& session, const FlagOptions& options) {
  const Json reply = session.call("cache.gc", {{"all", options.flag}});
  if (!session.printed_json(reply)) {
    session.console.print(cell(reply["removed_entries"]) + " feature maps removed, " +
                          bytes_text(reply["removed_bytes"]) + " freed");
  }
  return EX_OK;
}

int cache_verify(Session& session, const FlagOptions& options) {
  const Json reply = session.call("cache.verify", {{"repair", options.flag}});
  if (!session.printed_json(reply)) {
    session.console.print(cell(reply["entries"]) + " feature maps checked, " +
                          cell(reply["bad_entries"]) + " bad");
    for (const Json& bad : reply["bad"]) {
      session.console.print(cell(bad["key"]) + ": " + cell(bad["what"]));
    }
    for (const Json& text : reply["structure"]) session.console.print(cell(text));
  }
  return reply["ok"] == true || options.flag ? EX_OK : EX_DATAERR;
}

std::string fixed(const Json& value, int digits) {
  if (!value.is_number()) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value.get<double>());
  return text;
}

// "load, for 2 h 10 min (0.55 at the nearest; 0.50 is asked for)", a line an obstacle.
std::string waited_text(const Json& waited) {
  const std::string what = cell(waited["for"]);
  const std::string text = what + ", for " + duration_text(waited["seconds"]);
  if (waited["nearest"].is_null()) return text;
  const auto figure = [&](const Json& value) {
    if (what == "temperature") return fixed(value, 0) + " C";
    return what == "battery" ? percent(value) : fixed(value, 2);
  };
  return text + " (" + figure(waited["nearest"]) + " at the nearest; " + figure(waited["allowed"]) +
         " is asked for)";
}

// Rows of what keeps jobs back, beside the window.
void add_waits(std::vector<std::vector<std::string>>& rows, const Json& reply) {
  const Json held = reply.value("held", Json());
  if (held.is_object()) {
    rows.push_back({"held", cell(held["reason"]) + ", since " + cell(held["since"]) +
                                ", tried again in " + duration_text(held["retry_seconds"])});
  }
  for (const Json& waited : reply["window"].value("waited", Json::array()))
    rows.push_back({"waited for", waited_text(waited)});
  for (const Json& reading : reply["device"].value("ignored", Json::array()))
    rows.push_back({"ignored", cell(reading) + ", which cannot be"});
}

int status(Session& session, const NoOptions&) {
  const Json reply = session.call("system.status", Json::object());
  if (session.printed_json(reply)) return EX_OK;
  const Json& window = reply["window"];
  const Json& device = reply["device"];
  std::vector<std::vector<std::string>> rows = {
      {"moild", cell(reply["version"]) + ", process " + cell(reply["pid"]) + ", up " +
                    duration_text(reply["uptime_seconds"])},
      {"state", cell(reply["state_dir"])},
      {"running", reply["running"].is_null() ? "nothing" : "job " + cell(reply["running"])},
      {"waiting", cell(reply["queued"])},
      {"window", cell(window["start"]) + "-" + cell(window["end"]) +
                     (window["open"] == true ? ", open" : ", closed: " + cell(window["reason"]))},
      {"device", "mains " + cell(device["on_mains"]) + ", battery " + percent(device["battery"]) +
                     ", load " + fixed(device["load_per_cpu"], 2) + ", temperature " +
                     fixed(device["temperature_c"], 0)}};
  add_waits(rows, reply);
  session.console.table(rows);
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

void add_cache_commands(CLI::App& app, Action& chosen) {
  CLI::App* group = app.add_subcommand("cache", "the cache of feature maps");
  group->require_subcommand(1);
  add_command(group, "stats", "what it holds", chosen, std::make_shared<NoOptions>(), cache_stats);
  const auto collected = std::make_shared<FlagOptions>();
  add_command(group, "gc", "remove what is no longer used", chosen, collected, cache_gc)
      ->add_flag("--all", collected->flag, "what recent nights used, too");
  const auto verified = std::make_shared<FlagOptions>();
  add_command(group, "verify", "check every feature map", chosen, verified, cache_verify)
      ->add_flag("--repair", verified->flag, "remove bad ones");
}

void add_system_commands(CLI::App& app, Action& chosen) {
  add_command(&app, "status", "how the daemon is", chosen, std::make_shared<NoOptions>(), status);
  add_command(&app, "methods", "what the daemon understands", chosen, std::make_shared<NoOptions>(),
              methods);
}

}  // namespace moil::daemon::ctl
