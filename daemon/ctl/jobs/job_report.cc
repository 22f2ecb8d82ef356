#include "daemon/ctl/jobs/job_report.h"

#include <set>

#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/jobs/watch.h"
#include "daemon/ctl/text.h"
#include "datasets/labels/denial.h"

namespace moil::daemon::ctl {
namespace {

// Rows under their heading, below an empty line; nothing if there are none.
void print_part(Console& console, const std::string& heading, Rows rows) {
  rows = known_rows(std::move(rows));
  if (rows.empty()) return;
  rows.insert(rows.begin(), {heading});
  console.print("");
  console.table(rows);
}

// All scores of the model's task, if they are more than its headline.
Rows score_rows(const Json& details) {
  const Json scores = scores_of(details);
  Rows rows = {{"", "global before", "after", "local before", "after"}};
  std::set<std::string> names;
  for (const char* of : {"/global/before", "/local/before"}) {
    const Json all = at(scores, of);
    for (const auto& [name, value] : all.items()) names.insert(name);
  }
  const auto shown = [&](const char* of, const std::string& name) {
    const Json all = at(scores, of);
    const Json value = all.is_object() ? all.value(name, Json()) : Json();
    return value.is_number() ? formatted(value, "%.4g") : std::string("-");
  };
  for (const std::string& name : names)
    rows.push_back({name, shown("/global/before", name), shown("/global/after", name),
                    shown("/local/before", name), shown("/local/after", name)});
  return names.size() > 1 ? rows : Rows();
}

// Labels that a high accuracy hides, for few samples have them: fewer than half are told.
Rows hidden_rows(const Json& details) {
  constexpr double kHigh = 0.9;
  const Json labels = at(details, "/labels");
  Rows rows;
  if (!labels.is_array()) return rows;
  for (const char* side : {"global", "local"}) {
    const Json scores = at(scores_of(details), ("/" + std::string(side)).c_str());
    const Json accuracy = at(scores, "/after/accuracy");
    if (!accuracy.is_number() || accuracy.get<double>() < kHigh) continue;
    for (const Json& label : labels) {
      const Json of_side = label.value(side, Json());
      const Json held_out = at(of_side, "/held_out"), right = at(of_side, "/after");
      if (!held_out.is_number() || 2 * right.get<double>() >= held_out.get<double>()) continue;
      rows.push_back({printable(cell(at(label, "/label"))), side,
                      cell(right) + " of " + cell(held_out) + " told"});
    }
  }
  return rows;
}

Rows stage_rows(const Json& stages) {
  double sum = 0;
  for (const auto& [stage, seconds] : stages_in_order(stages)) sum += seconds;
  Rows rows;
  for (const auto& [stage, seconds] : stages_in_order(stages))
    rows.push_back({stage, short_time_text(seconds), sum > 0 ? percent(seconds / sum) : "-"});
  return rows;
}

Rows memory_rows(const Json& memory) {
  Rows rows;
  for (const auto& [words, bytes] : memory_figures(memory))
    rows.push_back({words, bytes_text(bytes)});
  if (const Json batch = at(memory, "/micro_batch"); !batch.is_null())
    rows.push_back({"samples in memory at once", cell(batch)});
  if (const Json layers = at(memory, "/made_again"); layers.is_number() && layers > 0)
    rows.push_back({"layers whose outputs are made again", cell(layers)});
  if (at(memory, "/saved") == "bf16") rows.push_back({"kept for the backward pass in", "bf16"});
  if (const Json swap = at(memory, "/swap"); swap.is_object()) {
    rows.push_back({"swap " + cell(at(swap, "/mode")),
                    bytes_cell(at(swap, "/read_bytes")) + " read, " +
                        bytes_cell(at(swap, "/written_bytes")) + " written"});
  }
  return rows;
}

// Which labels are taken for which, most often first; all of them are in --html and --json.
Rows mistake_rows(const Json& confusion) {
  constexpr std::size_t kMost = 8;
  const Json pairs = at(confusion, "/pairs");
  Rows rows;
  for (const Json& pair : pairs) {
    if (rows.size() == kMost) {
      rows.push_back({"and " + std::to_string(pairs.size() - kMost) + " more"});
      break;
    }
    const Json said = at(pair, "/said");
    rows.push_back({printable(data::spoken_label(cell(at(pair, "/label")))),
                    "for " + (said.is_string() ? printable(cell(said)) : std::string("nothing")),
                    cell(at(pair, "/count"))});
  }
  return rows;
}

// From which probability "moilctl listen" tells labels, and what that costs.
Rows listening_rows(const Json& listening) {
  const Json labels = at(listening, "/labels");
  if (!labels.is_array() || labels.empty()) return {};
  Rows rows = {{"", "told from", "heard, of held-out recordings", "other sound held out"}};
  for (const Json& label : labels)
    rows.push_back({printable(cell(at(label, "/label"))), percent(at(label, "/told_from")),
                    cell(at(label, "/heard")) + " of " + cell(at(label, "/recordings")),
                    duration_text(at(label, "/seconds_without").get<double>())});
  return rows;
}

Rows kernel_rows(const Json& kernels) {
  if (!kernels.is_object()) return {};
  const Json measured = at(kernels, "/measured"), untried = at(kernels, "/untried");
  if (measured == 0 && untried == 0) return {{"kernels", "as measured before"}};
  Rows rows = {{"kernels measured, and kept for later nights", cell(measured)},
               {"that took", short_time_text(kernels.value("seconds", 0.0))}};
  if (untried != 0) rows.push_back({"taken as guessed, for want of time", cell(untried)});
  return rows;
}

}  // namespace

void print_left_out(Console& console, const Json& job) {
  const Json details = at(job["result"], "/details");
  print_part(console, unreadable_heading(details), left_out_rows(details));
  print_part(console, "of a kind that the model does not read", other_media_rows(details));
}

void print_job_report(Console& console, const Json& job) {
  print_result(console, job);
  const Json details = at(job["result"], "/details");
  print_part(console, "SCORES", score_rows(details));
  print_part(console, "HIDDEN BY THE ACCURACY", hidden_rows(details));
  print_part(console, "HELD-OUT SAMPLES TAKEN", mistake_rows(at(details, "/confusion")));
  print_part(console, "LISTENING, AT ONE FALSE ACCEPT AN HOUR",
             listening_rows(at(details, "/listening")));
  print_part(console, "TRAINED", trained_rows(details));
  print_left_out(console, job);
  print_part(console, "STAGE", stage_rows(at(details, "/stages")));
  print_part(console, "KERNELS", kernel_rows(at(details, "/kernels")));
  print_part(console, "MEMORY", memory_rows(at(details, "/memory")));
  print_part(console, "CACHE", cache_rows(at(details, "/cache")));
}

}  // namespace moil::daemon::ctl
