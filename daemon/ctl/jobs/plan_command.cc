// moilctl plan FILE: what a job would need, without running it
#include <sysexits.h>

#include "base/files/file.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/jobs/processor_table.h"

namespace moil::daemon::ctl {
namespace {

struct PlanOptions {
  std::string file, svg, processors;
  bool timing = false;
};

void print_night(Console& console, const Json& plan) {
  Rows rows{{"PART OF THE NIGHT", "MEMORY"}};
  for (const char* part : {"libraries", "weights", "samples", "decoding", "caching", "training",
                           "judging", "listening", "trials"})
    rows.push_back({part, bytes_cell(plan["parts"].value(part, Json()))});
  rows.push_back({"predicted peak", bytes_cell(plan["predicted_bytes"])});
  rows.push_back({"budget", bytes_cell(plan["budget_bytes"])});
  console.table(rows);
}

void print_maps(Console& console, const Json& maps) {
  if (maps.is_null()) return;
  console.print("\nfeature maps of " + cell(maps["split"]) + ": " + bytes_cell(maps["map_bytes"]) +
                " each on disk, " + bytes_cell(maps["bytes"]) + " in all");
  if (maps["why"] != "") console.print(cell(maps["why"]));
}

void print_training(Console& console, const Json& training) {
  console.print("\na training step of " + cell(training["batch"]) + " samples (" +
                cell(training["micro_batch"]) + " in memory at once), the last " +
                cell(training["trained_units"]) + " of " + cell(training["units"]) + " layers:");
  const double peak = training["lower_bound_bytes"];
  Rows rows{{"AT THE PEAK", "MEMORY", "SHARE"}};
  for (const auto& [kind, bytes] : training["at_peak"].items())
    rows.push_back({kind, bytes_cell(bytes), percent(Json(bytes.get<double>() / peak))});
  rows.push_back({"lower bound", bytes_cell(training["lower_bound_bytes"]), ""});
  rows.push_back({"planned", bytes_cell(training["planned_bytes"]), ""});
  rows.push_back({"sorting planner", bytes_cell(training["sorting_bytes"]), ""});
  console.table(rows);
  console.print("the peak stands at order " + cell(training["peak_order"]) + " of " +
                cell(training["orders"]) + ": " + cell(training["peak_step"]));
  if (training["made_again"] > 0)
    console.print("the outputs of " + cell(training["made_again"]) +
                  " layers are made again in the backward pass, instead of being kept");
  const Json& swap = training["swap"];
  if (swap["mode"] != "off") {
    console.print("swap " + cell(swap["mode"]) + ": the night reads " +
                  bytes_cell(swap["read_bytes"]) + " and writes " +
                  bytes_cell(swap["written_bytes"]));
  }
}

void print_less(Console& console, const Json& less) {
  if (less.empty()) return;
  Rows rows{{"LESS WOULD BE NEEDED WITH", "TRAINING STEP"}};
  for (const Json& way : less)
    rows.push_back({cell(way["with"]), bytes_cell(way["planned_bytes"])});
  console.print("");
  console.table(rows);
}

std::string milliseconds_text(const Json& seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f ms", 1000 * seconds.get<double>());
  return text;
}

// A line a layer, and one for each of its tensors.
void print_timing(Console& console, const Json& timing) {
  console.print("\na step of all of them takes " + milliseconds_text(timing["step_seconds"]) +
                ", " + percent(timing["forward_share"]) + " of it forward; rho may be " +
                percent(timing["smallest_rho"]) + " at least");
  Rows rows{{"LAYER, TENSOR", "FORWARD", "PASS ERROR ON (T_G)", "UPDATE (T_W)"}};
  for (const Json& layer : timing["layers"]) {
    rows.push_back({cell(layer["layer"]), milliseconds_text(layer["forward_seconds"]),
                    milliseconds_text(layer["pass_seconds"]), ""});
    for (const Json& tensor : layer["tensors"])
      rows.push_back(
          {"  " + cell(tensor["tensor"]), "", "", milliseconds_text(tensor["update_seconds"])});
  }
  console.table(rows);
}

void print_processors(Console& console, const Json& processors) {
  if (processors.contains("why")) {
    console.note("moilctl: no second processor: " + cell(processors["why"]));
    return;
  }
  console.print("\nwho would compute a training step, the CPU (C) or " +
                cell(processors["device"]) + " (G):\n\n" + processor_table(processors));
}

void print_plan(Session& session, const Json& reply) {
  print_night(session.console, reply);
  print_maps(session.console, reply.value("maps", Json()));
  if (!reply["training"].is_null()) print_training(session.console, reply["training"]);
  if (reply.contains("timing")) print_timing(session.console, reply["timing"]);
  print_less(session.console, reply["less"]);
  if (reply.contains("processors")) print_processors(session.console, reply["processors"]);
}

int plan(Session& session, const PlanOptions& options) {
  Json params = {{"job", read_job_description(options.file)},
                 {"picture", !options.svg.empty()},
                 {"timing", options.timing}};
  if (!options.processors.empty()) params["processors"] = options.processors;
  Json reply = session.call("job.plan", params);
  const bool drawn = reply.contains("picture");
  if (drawn) {
    write_file_atomic(options.svg, reply["picture"].get<std::string>());
    reply.erase("picture");
  }
  if (!session.printed_json(reply)) {
    print_plan(session, reply);
    if (drawn) session.console.print("\ndrawn to " + options.svg);
  }
  return reply.contains("/processors/why"_json_pointer) ? EX_UNAVAILABLE : EX_OK;
}

}  // namespace

void add_plan_command(cli::Command app, Action& chosen) {
  const auto options = std::make_shared<PlanOptions>();
  cli::Command command =
      add_command(app, "plan", "what a job would need, without running it", chosen, options, plan)
          .group(kLearning);
  command.add_option("FILE", options->file, "the job description (JSON)").required();
  command.add_flag("--timing", options->timing,
                   "measure what each layer and tensor takes of a training step");
  command
      .add_option("--processors=SELECTION", options->processors,
                  "measure who would compute what of a training step beside an OpenCL device; "
                  "the selection need not be named")
      .expected(0, 1)
      .check(cli::one_of({"cpu", "opencl", "step_wise", "layer_wise", "path"}))
      .default_str("path");
  command.add_option("--svg=FILE", options->svg,
                     "draw the training step's memory, or with --processors its schedule, to this "
                     "file");
}

}  // namespace moil::daemon::ctl
