#include "daemon/ctl/jobs/watch.h"

#include <sysexits.h>

#include "daemon/ctl/jobs/event_text.h"
#include "daemon/ctl/jobs/job_report.h"
#include "daemon/ctl/jobs/report_figures.h"

namespace moil::daemon::ctl {
namespace {

bool is_finished(const std::string& state) { return state != "queued" && state != "running"; }

int status_of_state(const std::string& state) {
  if (state == "succeeded") return EX_OK;
  if (state == "rejected-by-guard") return EX_DATAERR;
  return state == "cancelled" ? EX_TEMPFAIL : EX_SOFTWARE;
}

void show_progress(Console& console, const Json& event) {
  const double total = event.value("total", 0.0);
  const double fraction = total > 0 ? event.value("done", 0.0) / total : 0;
  std::string heading = event.value("stage", "");
  std::string text;
  if (event.contains("epoch") && event["epoch"].is_number()) {
    heading += " epoch " + cell(event["epoch"]);
    if (event.contains("epochs") && event["epochs"].is_number()) {
      heading += "/" + cell(event["epochs"]);
    }
  }
  if (event.contains("loss") && event["loss"].is_number()) {
    text += "loss " + formatted(event["loss"], "%.4f") + "  ";
  }
  if (event.contains("seconds_left") && event["seconds_left"].is_number()) {
    text += duration_text(event["seconds_left"].get<double>()) + " left";
  }
  console.bar(fraction, heading, text);
}

void show(Console& console, std::int64_t job, const Json& event) {
  const std::string kind = event.value("event", "");
  if (kind == "progress") return show_progress(console, event);
  if (kind == "curve" || kind == "note") return console.note(event_text(event));
  if (kind == "state") console.note("job " + std::to_string(job) + " " + event_text(event));
}

}  // namespace

void print_result(Console& console, const Json& job) {
  const Json& result = job["result"];
  if (!result.is_object()) return;
  const auto pair = [&](const std::string& which) {
    const Json after = result.value(which + "_after", Json());
    if (!after.is_number()) return std::string();
    const std::string change = quality_text(result.value(which + "_before", Json()), result) +
                               " -> " + quality_text(after, result);
    const std::string why = no_verdict(result, which);
    return why.empty() ? change : why + " (" + change + ")";
  };
  std::vector<std::vector<std::string>> rows{
      {"model", cell(job["model"]) + " version " + cell(job["version"])}};
  for (auto& row : new_label_rows(at(result, "/details"))) rows.push_back(std::move(row));
  for (auto& row : silent_label_rows(at(result, "/details"))) rows.push_back(std::move(row));
  for (auto& row : denied_in_vain_rows(at(result, "/details"))) rows.push_back(std::move(row));
  rows.insert(rows.end(), {{"global " + metric_name(result, "global"), pair("global")},
                           {"local " + metric_name(result, "local"), pair("local")},
                           {"epochs", cell(result.value("epochs", Json()))},
                           {"time", duration_text(result.value("seconds", 0.0))}});
  if (const std::string processors = processors_words(at(result, "/details")); !processors.empty())
    rows.push_back({"processors", processors});
  if (const auto energy = energy_words(at(result, "/details")))
    rows.push_back({"energy", energy->amount + " (" + energy->source + ")"});
  rows.push_back({"verdict", cell(result.value("reason", Json()))});
  console.table(known_rows(std::move(rows)));
}

int watch_job(Session& session, std::int64_t id) {
  const Json begin = session.call("job.watch", {{"id", id}});
  if (!session.printed_json_line(begin)) {
    for (const Json& event : begin["events"]) show(session.console, id, event["event"]);
    if (begin["job"]["progress"].is_object()) show(session.console, id, begin["job"]["progress"]);
  }
  // If the reply has not all events, later ones show how it ends.
  const bool more = !begin.value("next", Json()).is_null();
  std::string state = more ? "running" : begin["job"]["state"].get<std::string>();
  while (!is_finished(state)) {
    const Json params = session.client().next_notification()["params"];
    if (params.value("job", std::int64_t{0}) != id) continue;
    const Json& event = params["event"];
    if (!session.printed_json_line(params)) show(session.console, id, event);
    if (event.value("event", "") == "state") state = event.value("state", "");
  }
  session.console.end_bar();
  const Json end = session.call("job.get", {{"id", id}});
  if (!session.printed_json_line(end)) {
    print_result(session.console, end["job"]);
    print_left_out(session.console, end["job"]);
  }
  return status_of_state(state);
}

}  // namespace moil::daemon::ctl
