#include "daemon/ctl/jobs/report_figures.h"

#include <algorithm>

#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

std::string method_text(const Json& method) {
  if (method == "full") return "all tensors of the layers";
  if (method == "last_layer") return "the last layer";
  if (method == "bn_bias") return "batch norms and biases";
  if (method == "elastic") return "chosen anew as it went (moilctl report JOB --elastic)";
  return cell(method);
}

std::string joules_text(double joules) {
  if (joules < 1e3) return formatted(joules, "%.0f J");
  if (joules < 1e6) return formatted(joules / 1e3, "%.1f kJ");
  return formatted(joules / 1e6, "%.1f MJ");
}

}  // namespace

Json at(const Json& document, const char* pointer) {
  const Json::json_pointer place(pointer);
  if (!document.is_object() || !document.contains(place)) return nullptr;
  return document.at(place);
}

std::optional<double> number_at(const Json& document, const char* pointer) {
  const Json value = at(document, pointer);
  if (!value.is_number()) return std::nullopt;
  return value.get<double>();
}

Json scores_of(const Json& details) {
  const Json scores = at(details, "/scores");
  return scores.is_object() ? scores : Json::object();
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
                                  metric_name(scores_of(details), "global") + " " +
                                  quality_text(at(anchor, "/global"), scores_of(details))});
  if (const Json deadline = at(details, "/deadline/seconds"); deadline.is_number())
    rows.push_back({"to end within", duration_text(deadline.get<double>())});
  if (const Json samples = at(details, "/samples"); samples.is_object()) {
    rows.push_back({"samples", cell(at(samples, "/global")) + " global, " +
                                   cell(at(samples, "/local")) + " local"});
    rows.push_back({"held out", cell(at(samples, "/global_validation")) + " global, " +
                                    cell(at(samples, "/local_validation")) + " local"});
    const Json alike = at(details, "/near_duplicates");
    if (const Json scenes = at(alike, "/scenes"); scenes.is_number() && scenes > 0)
      rows.push_back({"look alike", cell(at(alike, "/samples")) + " local samples, of " +
                                        cell(scenes) + " scenes; each on one side"});
    if (const Json remark = at(alike, "/remark"); remark.is_string() && remark != "")
      rows.push_back({"not judged by", printable(cell(remark))});
  }
  return rows;
}

std::string no_verdict(const Json& result, const std::string& side) {
  constexpr double kFewest = 5;
  const auto count = number_at(result, ("/details/samples/" + side + "_validation").c_str());
  if (!count || *count < 1 || *count >= kFewest) return "";
  return formatted(*count, "%.0f") + " held out: no verdict";
}

Rows known_rows(Rows rows) {
  std::erase_if(rows, [](const std::vector<std::string>& row) {
    return row.size() == 2 && (row[1] == "-" || row[1].empty());
  });
  return rows;
}

std::size_t left_out_count(const Json& details) {
  const Json list = at(details, "/left_out");
  const std::size_t named = list.is_array() ? list.size() : 0;
  const double all = number_at(details, "/samples/left_out").value_or(0);
  return std::max(named, all > 0 ? static_cast<std::size_t>(all) : 0);
}

std::string unreadable_heading(const Json& details) {
  return counted(static_cast<std::int64_t>(left_out_count(details)), "unreadable sample");
}

Rows left_out_rows(const Json& details) {
  Rows rows;
  const Json list = at(details, "/left_out");
  if (!list.is_array()) return rows;
  for (const Json& sample : list) {
    rows.push_back(
        {printable(sample.value("name", "")), joined(sample.value("labels", Json::array())),
         sample.value("held_out", false) ? "held out" : "", printable(sample.value("why", ""))});
  }
  if (const std::size_t all = left_out_count(details); all > list.size())
    rows.push_back({"and " + std::to_string(all - list.size()) + " more"});
  return rows;
}

Rows other_media_rows(const Json& details) {
  Rows rows;
  const Json media = at(details, "/other_media");
  if (!media.is_object()) return rows;
  for (const auto& [type, count] : media.items()) rows.push_back({type, cell(count)});
  return rows;
}

namespace {

// As a shell takes it for one word.
std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<signed char>(c) < 0 || c == '_' || c == '.' || c == '/' || c == '-';
  };
  if (!text.empty() && text[0] != '-' && std::ranges::all_of(text, plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

}  // namespace

Rows silent_label_rows(const Json& details) {
  Rows rows;
  const Json found = at(details, "/silent_labels");
  if (!found.is_array()) return rows;
  for (const Json& one : found)
    rows.push_back({"silent", printable("\"" + cell(at(one, "/label")) +
                                        "\": " + cell(at(one, "/mostly_silent")) + " of " +
                                        cell(at(one, "/samples")) +
                                        " recordings are mostly silent, which teaches nothing")});
  return rows;
}

Rows denied_in_vain_rows(const Json& details) {
  Rows rows;
  const Json found = at(details, "/denied_in_vain");
  if (!found.is_array()) return rows;
  for (const Json& label : found)
    rows.push_back({"denied", printable("\"" + cell(label) +
                                        "\": neither samples nor the model have that label")});
  return rows;
}

Rows new_label_rows(const Json& details) {
  Rows rows;
  const Json imprinted = at(details, "/imprinted"), found = at(imprinted, "/looks_like");
  if (!imprinted.is_object()) return rows;
  rows.push_back({"new labels", cell(at(imprinted, "/labels").size()) + ", of " +
                                    cell(at(imprinted, "/samples")) + " samples"});
  if (const Json told = at(imprinted, "/left_out"); told.is_object())
    rows.push_back({"each left out", cell(at(told, "/right")) + " of " +
                                         cell(at(told, "/samples")) + " are told by the others"});
  if (!found.is_array()) return rows;
  for (const Json& one : found) {
    const std::string label = cell(at(one, "/label")), known = cell(at(one, "/known"));
    rows.push_back(
        {"looks known", printable("\"" + label + "\" looks like the model's \"" + known + "\" (" +
                                  cell(at(one, "/said")) + " of " + cell(at(one, "/samples")) +
                                  "); if it is: moilctl label map " + shell_word(label) + " " +
                                  shell_word(known))});
  }
  return rows;
}

namespace {

// Says one network's placement; empty if it is the CPU's, as it was meant to be.
std::string placement_words(const Json& record, const std::string& what) {
  if (!at(record, "/method").is_string()) return "";
  if (at(record, "/method") == "cpu") {
    const Json asked = at(record, "/asked");
    if (at(record, "/gave_up") != true && (asked == "auto" || asked == "cpu")) return "";
    return what + " on the CPU alone: " + printable(cell(at(record, "/why")));
  }
  const Json layers = at(record, "/layers");
  const std::size_t count = layers.is_object() ? layers.size() : 0;
  std::string text = std::to_string(count) + (count == 1 ? " layer of " : " layers of ") + what +
                     " on " + printable(cell(at(record, "/device")));
  const auto seconds = number_at(record, "/predicted_seconds");
  const auto alone = number_at(record, "/cpu_seconds");
  if (seconds && alone && *alone > 0)
    text += formatted(*seconds / *alone, ", %.2f") + " of the CPU's time as measured";
  return text;
}

}  // namespace

std::string processors_words(const Json& details) {
  const std::string training = placement_words(at(details, "/processors"), "training");
  const std::string maps = placement_words(at(details, "/processors/feature_maps"), "feature maps");
  return training + (training.empty() || maps.empty() ? "" : "; ") + maps;
}

std::optional<EnergyWords> energy_words(const Json& details) {
  if (!details.is_object() || !details.contains("energy")) return std::nullopt;
  const Json& energy = details.at("energy");
  const auto joules = number_at(energy, "/joules");
  if (!joules) return std::nullopt;
  return EnergyWords{joules_text(*joules), printable(cell(at(energy, "/source")))};
}

std::vector<std::pair<std::string, double>> stages_in_order(const Json& stages) {
  const std::vector<std::string> known{"scenes",  "mix",     "measure", "profile", "cache",
                                       "distill", "imprint", "train",   "judge",   "promote"};
  std::vector<std::pair<std::string, double>> found;
  const auto add = [&](const std::string& stage, const Json& seconds) {
    if (seconds.is_number()) found.emplace_back(stage, seconds.get<double>());
  };
  if (!stages.is_object()) return found;
  for (const std::string& stage : known) add(stage, stages.value(stage, Json()));
  for (const auto& [stage, seconds] : stages.items())
    if (std::find(known.begin(), known.end(), stage) == known.end()) add(stage, seconds);
  return found;
}

std::vector<std::pair<std::string, double>> memory_figures(const Json& memory) {
  std::vector<std::pair<std::string, double>> figures;
  for (const auto& [member, words] :
       {std::pair{"/predicted_bytes", "predicted peak"},
        {"/measured_bytes", "measured peak"},
        {"/baseline_bytes", "before the night"},
        {"/training_peak_bytes", "measured peak of training"},
        {"/training_plan_bytes", "training step, planned"},
        {"/training_lower_bound_bytes", "training step, lower bound"}}) {
    if (const auto bytes = number_at(memory, member)) figures.emplace_back(words, *bytes);
  }
  return figures;
}

Rows cache_rows(const Json& cache) {
  if (!cache.is_object()) return {};
  Rows rows = {{"feature maps computed", cell(at(cache, "/computed"))},
               {"feature maps reused", cell(at(cache, "/reused"))},
               {"bytes of one", bytes_cell(at(cache, "/feature_bytes"))}};
  if (const Json bytes = at(cache, "/maps/bytes"); bytes.is_number())
    rows.push_back({"all of them on disk", bytes_cell(bytes)});
  if (const Json why = at(cache, "/maps/why"); why.is_string() && why != "")
    rows.push_back({"why these", cell(why)});
  if (const Json uncached = at(cache, "/uncached"); uncached.is_number() && uncached != 0)
    rows.push_back({"feature maps that did not fit", cell(uncached)});
  return rows;
}

}  // namespace moil::daemon::ctl
