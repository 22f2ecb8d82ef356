#include "daemon/ctl/job_report.h"

#include <algorithm>
#include <set>

#include "daemon/ctl/text.h"
#include "daemon/ctl/watch.h"

namespace moil::daemon::ctl {
namespace {

// null where there is none.
Json at(const Json& details, const char* pointer) {
  if (!details.is_object()) return nullptr;
  return details.value(Json::json_pointer(pointer), Json());
}

// Rows under their heading, below an empty line; nothing where there are none.
void print_part(Console& console, const std::string& heading, Rows rows) {
  if (rows.empty()) return;
  rows.insert(rows.begin(), {heading});
  console.print("");
  console.table(rows);
}

std::string method_text(const Json& method) {
  if (method == "full") return "all tensors of the layers";
  if (method == "last_layer") return "the last layer";
  if (method == "bn_bias") return "batch norms and biases";
  if (method == "elastic") return "chosen anew as it went (moilctl report JOB --elastic)";
  return cell(method);
}

Json scores_of(const Json& details) {
  const Json scores = at(details, "/scores");
  return scores.is_object() ? scores : Json::object();
}

std::string metric_of(const Json& details) {
  return scores_of(details).value("metric", "accuracy");
}

// All that the model's task tells, where that is more than its headline.
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

Rows trained_rows(const Json& details) {
  Rows rows;
  if (const Json method = at(details, "/method"); !method.is_null())
    rows.push_back({"tensors", method_text(method)});
  if (const Json units = at(details, "/freeze/trained_units"); !units.is_null())
    rows.push_back(
        {"layers", "the last " + cell(units) + " of " + cell(at(details, "/freeze/units"))});
  if (const Json anchor = at(details, "/anchor"); anchor.is_object())
    rows.push_back({"anchor", "version " + cell(at(anchor, "/version")) + ", global " +
                                  metric_of(details) + " " +
                                  quality_text(at(anchor, "/global"), scores_of(details))});
  if (const Json deadline = at(details, "/deadline/seconds"); deadline.is_number())
    rows.push_back({"to end within", duration_text(deadline.get<double>())});
  if (const Json samples = at(details, "/samples"); samples.is_object()) {
    rows.push_back({"samples", cell(at(samples, "/global")) + " global, " +
                                   cell(at(samples, "/local")) + " local"});
    rows.push_back({"held out", cell(at(samples, "/global_validation")) + " global, " +
                                    cell(at(samples, "/local_validation")) + " local"});
    const Json alike = at(details, "/near_duplicates");
    if (const Json held_out = at(alike, "/held_out"); held_out.is_number() && held_out > 0)
      rows.push_back({"near-duplicates", printable(cell(at(alike, "/remark")))});
  }
  return rows;
}

// Samples that the night did without, and why.
Rows left_out_rows(const Json& details) {
  Rows rows;
  const Json list = at(details, "/left_out");
  if (!list.is_array()) return rows;
  for (const Json& sample : list) {
    rows.push_back(
        {printable(sample.value("name", "")), joined(sample.value("labels", Json::array())),
         sample.value("held_out", false) ? "held out" : "", printable(sample.value("why", ""))});
  }
  const Json all = at(details, "/samples/left_out");
  if (all.is_number() && all > list.size())
    rows.push_back({"and " + std::to_string(all.get<std::size_t>() - list.size()) + " more"});
  return rows;
}

// Samples in the label store that the model cannot read.
Rows other_media_rows(const Json& details) {
  Rows rows;
  const Json media = at(details, "/other_media");
  if (!media.is_object()) return rows;
  for (const auto& [type, count] : media.items()) rows.push_back({type, cell(count)});
  return rows;
}

// In the order in which they ran; what is not known comes last.
Rows stage_rows(const Json& stages) {
  if (!stages.is_object()) return {};
  double sum = 0;
  for (const Json& seconds : stages)
    if (seconds.is_number()) sum += seconds.get<double>();
  Rows rows;
  const auto add = [&](const std::string& stage) {
    const Json seconds = stages.value(stage, Json());
    if (!seconds.is_number()) return;
    rows.push_back({stage, short_time_text(seconds.get<double>()),
                    sum > 0 ? percent(seconds.get<double>() / sum) : "-"});
  };
  const std::vector<std::string> known{"mix",     "measure", "profile", "cache",
                                       "distill", "train",   "judge",   "promote"};
  for (const std::string& stage : known) add(stage);
  for (const auto& [stage, seconds] : stages.items())
    if (std::find(known.begin(), known.end(), stage) == known.end()) add(stage);
  return rows;
}

Rows memory_rows(const Json& memory) {
  Rows rows;
  for (const auto& [member, words] :
       {std::pair{"predicted_bytes", "predicted peak"},
        {"measured_bytes", "measured peak"},
        {"baseline_bytes", "before the night"},
        {"training_peak_bytes", "measured peak of training"},
        {"training_plan_bytes", "training step, planned"},
        {"training_lower_bound_bytes", "training step, lower bound"}}) {
    if (memory.contains(member)) rows.push_back({words, bytes_cell(memory[member])});
  }
  if (const Json batch = at(memory, "/micro_batch"); !batch.is_null())
    rows.push_back({"samples in memory at once", cell(batch)});
  if (const Json swap = at(memory, "/swap"); swap.is_object()) {
    rows.push_back({"swap " + cell(at(swap, "/mode")),
                    bytes_cell(at(swap, "/read_bytes")) + " read, " +
                        bytes_cell(at(swap, "/written_bytes")) + " written"});
  }
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

Rows cache_rows(const Json& cache) {
  if (!cache.is_object()) return {};
  Rows rows = {{"feature maps computed", cell(at(cache, "/computed"))},
               {"feature maps reused", cell(at(cache, "/reused"))},
               {"bytes of one", bytes_cell(at(cache, "/feature_bytes"))}};
  if (const Json uncached = at(cache, "/uncached"); uncached.is_number() && uncached != 0)
    rows.push_back({"feature maps that did not fit", cell(uncached)});
  return rows;
}

}  // namespace

void print_left_out(Console& console, const Json& job) {
  const Json details = at(job["result"], "/details");
  print_part(console, "LEFT OUT, FOR IT CANNOT BE READ", left_out_rows(details));
  print_part(console, "OF NO KIND THAT THE MODEL READS", other_media_rows(details));
}

void print_job_report(Console& console, const Json& job) {
  print_result(console, job);
  const Json details = at(job["result"], "/details");
  print_part(console, "SCORES", score_rows(details));
  print_part(console, "TRAINED", trained_rows(details));
  print_left_out(console, job);
  print_part(console, "STAGE", stage_rows(at(details, "/stages")));
  print_part(console, "KERNELS", kernel_rows(at(details, "/kernels")));
  print_part(console, "MEMORY", memory_rows(at(details, "/memory")));
  print_part(console, "CACHE", cache_rows(at(details, "/cache")));
}

}  // namespace moil::daemon::ctl
