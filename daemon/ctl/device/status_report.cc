#include "daemon/ctl/device/status_report.h"

#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

std::string fixed(const Json& value, const char* format) {
  return value.is_number() ? formatted(value, format) : "-";
}

std::string job_text(const Json& job) {
  return "job " + cell(job["job"]) + " " + printable(cell(job["name"])) + " (model " +
         cell(job["model"]) + ")";
}

// "train, epoch 3 of 20, 40.0% of it, 12 min 30 s left"
std::string progress_text(const Json& running) {
  if (!running["stage"].is_string()) return "its worker has begun";
  std::string text = cell(running["stage"]);
  if (running["epoch"].is_number() && running["epochs"].is_number())
    text += ", epoch " + cell(running["epoch"]) + " of " + cell(running["epochs"]);
  if (running["total"].is_number() && running["total"] > 0)
    text +=
        ", " + percent(running["done"].get<double>() / running["total"].get<double>()) + " of it";
  if (running["seconds_left"].is_number())
    text += ", " + duration_text(running["seconds_left"]) + " left";
  return text;
}

// "load, for 2 h 10 min (0.55 at the nearest; 0.50 is asked for)", a line an obstacle.
std::string waited_text(const Json& waited) {
  const std::string what = cell(waited["for"]);
  const std::string text = what + ", for " + duration_text(waited["seconds"]);
  if (waited["nearest"].is_null()) return text;
  const auto figure = [&](const Json& value) {
    if (what == "temperature") return fixed(value, "%.0f") + " C";
    return what == "battery" ? percent(value) : fixed(value, "%.2f");
  };
  return text + " (" + figure(waited["nearest"]) + " at the nearest; " + figure(waited["allowed"]) +
         " is asked for)";
}

std::string pair_text(const Json& night, const std::string& which) {
  if (!night[which + "_after"].is_number()) return "";
  const Json after = night[which + "_after"];
  return which + " " + quality_text(night[which + "_before"], night) + " -> " +
         (which == "global" ? global_quality_text(after, night) : quality_text(after, night)) +
         ", ";
}

void add_jobs(Rows& rows, const Json& status, const Json& overview) {
  const Json& running = status["running"];
  if (overview.is_null()) {
    rows.push_back({"running", running.is_null() ? "nothing" : "job " + cell(running)});
    rows.push_back({"waiting", cell(status["queued"])});
    return;
  }
  const Json& now = overview["running"];
  rows.push_back(
      {"running", now.is_null() ? "nothing" : job_text(now) + ": " + progress_text(now)});
  if (overview["waiting_count"] == 0) rows.push_back({"waiting", "nothing"});
  for (const Json& job : overview["waiting"])
    rows.push_back({"waiting", job_text(job) + ", for: " + printable(cell(job["for"]))});
  const std::size_t shown = overview["waiting"].size();
  const std::size_t all = overview["waiting_count"];
  if (all > shown)
    rows.push_back({"", "and " + std::to_string(all - shown) + " more; see moilctl job list"});
}

void add_nights(Rows& rows, const Json& overview) {
  if (overview.is_null()) return;
  const Json& last = overview["last_night"];
  rows.push_back({"last night", last.is_null() ? "none yet" : night_sentence(last)});
  for (const Json& night : overview["next_nights"]) {
    std::string text = cell(night["schedule"]) + " (model " + cell(night["model"]) + ")";
    text += night["at"].is_null() ? ", not" : ", " + cell(night["at"]);
    if (night["seconds"].is_number()) text += ", takes about " + duration_text(night["seconds"]);
    if (!night["why_not"].is_null())
      text += (night["at"].is_null() ? ": " : "; ") + printable(cell(night["why_not"]));
    rows.push_back({"next night", text});
  }
  if (overview["next_nights"].empty())
    rows.push_back({"next night", "no schedule; see moilctl schedule add --help"});
}

// "01:00-06:00, open; waiting: the device is busy (load 0.6 per CPU; 0.5 is allowed)"
std::string window_text(const Json& window) {
  const std::string hours = window["start"] == window["end"]
                                ? "all day"
                                : cell(window["start"]) + "-" + cell(window["end"]);
  if (window["open"] == true) return hours + ", open";
  const std::string reason = cell(window["reason"]);
  const Json obstacle = window.value("obstacle", Json("window"));
  if (obstacle.is_string() && obstacle != "window") return hours + ", open; waiting: " + reason;
  const Json next = window.value("next_at", Json());
  return hours + ", closed: " + reason +
         (next.is_string() ? "; opens next at " + cell(next) : std::string());
}

// "mains yes, load 0.12, temperature 47 C": what is known of it.
std::string device_text(const Json& device) {
  std::string text;
  const auto add = [&](const char* what, const Json& value, const std::string& told) {
    if (!value.is_null()) text += (text.empty() ? "" : ", ") + std::string(what) + " " + told;
  };
  const Json& mains = device["on_mains"];
  add("mains", mains, mains == true ? "yes" : "no");
  add("battery", device["battery"], percent(device["battery"]));
  add("load", device["load_per_cpu"], fixed(device["load_per_cpu"], "%.2f"));
  add("temperature", device["temperature_c"], fixed(device["temperature_c"], "%.0f") + " C");
  return text;
}

void add_device(Rows& rows, const Json& status) {
  const Json& window = status["window"];
  const Json& device = status["device"];
  rows.push_back({"window", window_text(window)});
  if (const Json cpus = status.value("cpus", Json());
      cpus.is_object() && cpus["used"] < cpus["all"])
    rows.push_back(
        {"cpus", cell(cpus["used"]) + " of " + cell(cpus["all"]) + ", for the device is warm"});
  if (const std::string text = device_text(device); !text.empty()) rows.push_back({"device", text});
}

// What keeps jobs back, beside the window, and what needs a person.
void add_troubles(Rows& rows, const Json& status, const Json& overview) {
  const Json held = status.value("held", Json());
  if (held.is_object()) {
    rows.push_back({"held", cell(held["reason"]) + ", since " + cell(held["since"]) +
                                ", tried again in " + duration_text(held["retry_seconds"])});
  }
  for (const Json& waited : status["window"].value("waited", Json::array()))
    rows.push_back({"waited for", waited_text(waited)});
  for (const Json& reading : status["device"].value("ignored", Json::array()))
    rows.push_back({"ignored", cell(reading) + ", which cannot be"});
  for (const Json& gone : status.value("rolled_back", Json::array()))
    rows.push_back({"rolled back", "model " + cell(gone["model"]) + " version " +
                                       cell(gone["version"]) + ", " + cell(gone["at"]) + ": " +
                                       printable(cell(gone["why"]))});
  if (overview.is_null()) return;
  for (const Json& sentence : overview["attention"])
    rows.push_back({"ATTENTION", printable(cell(sentence))});
}

}  // namespace

std::string night_sentence(const Json& night) {
  const std::string job = "job " + cell(night["job"]) + " ";
  const std::string model = printable(cell(night["model"]));
  const std::string state = cell(night["state"]);
  if (state == "failed")
    return job + "of model " + model + " failed: " + printable(cell(night["message"]));
  std::string text = job + (state == "succeeded" ? "personalized " : "trained ") + model + ": " +
                     pair_text(night, "local") + pair_text(night, "global");
  if (night["seconds"].is_number()) text += duration_text(night["seconds"]);
  if (state != "succeeded") return text + "; kept back: " + printable(cell(night["message"]));
  const std::string version = "version " + cell(night["version"]);
  if (night["in_service"] == true) return text + "; in service as " + version;
  return text + (night["version"].is_null() ? "; its version is removed"
                                            : "; " + version + ", which is not in service");
}

Rows status_rows(const Json& status, const Json& overview) {
  Rows rows = {{"moild", cell(status["version"]) + ", process " + cell(status["pid"]) + ", up " +
                             duration_text(status["uptime_seconds"])},
               {"state", cell(status["state_dir"])}};
  add_jobs(rows, status, overview);
  add_nights(rows, overview);
  add_device(rows, status);
  add_troubles(rows, status, overview);
  return rows;
}

}  // namespace moil::daemon::ctl
