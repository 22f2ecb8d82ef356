#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/report_page/html.h"
#include "daemon/ctl/report_page/sections.h"
#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

constexpr std::size_t kMostNamed = 5;  // in one sentence

// Labels with local samples.
std::vector<Json> local_labels(const Json& job) {
  std::vector<Json> names;
  for (const Json& label : at(job, "/result/details/labels"))
    if (at(label, "/local").is_object()) names.push_back(at(label, "/label"));
  return names;
}

std::string named(const std::vector<Json>& names) {
  if (names.empty()) return "what you labelled";
  if (names.size() > kMostNamed) return std::to_string(names.size()) + " labels of yours";
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += html::name(names[i]);
  }
  return text;
}

// "local accuracy rose from 10.0% to 98.0%", "global accuracy was not measured"
std::string change_text(const Json& result, const std::string& side) {
  const std::string what = side + " " + html::words(metric_name(result, side));
  const auto before = number_at(result, ("/" + side + "_before").c_str());
  const auto after = number_at(result, ("/" + side + "_after").c_str());
  if (!after) return what + " was not measured";
  if (const std::string why = no_verdict(result, side); !why.empty()) return what + ": " + why;
  const std::string now = quality_text(*after, result);
  if (!before) return what + " is " + now;
  const std::string was = quality_text(*before, result);
  if (was == now) return what + " stayed at " + now;
  return what + (*after > *before ? " rose" : " fell") + " from " + was + " to " + now;
}

std::string time_text(const Json& result) {
  const double seconds = number_at(result, "/seconds").value_or(0);
  return seconds < 10 ? short_time_text(seconds) : duration_text(seconds);
}

std::string cost_text(const Json& result) {
  std::string text = "in " + time_text(result);
  if (const auto bytes = number_at(result, "/details/memory/measured_bytes"))
    text += " and " + bytes_text(*bytes) + " of memory";
  return text;
}

std::string sentence(const Json& job) {
  const Json& result = job.at("result");
  std::string text =
      "Model " + html::name(at(job, "/model")) + " learned " + named(local_labels(job));
  if (const Json samples = at(result, "/details/samples/local"); samples.is_number())
    text += " from " + html::words(samples) + " samples";
  return text + " " + cost_text(result) + ": " + change_text(result, "local") + ", " +
         change_text(result, "global") + ".";
}

std::string verdict(const Json& job) {
  const bool promoted = at(job, "/result/promoted") == true;
  const std::string state = promoted ? "version " + html::words(at(job, "/version")) + " promoted"
                                     : std::string("kept back by the guard");
  return html::element("span", state, promoted ? "class=\"state good\"" : "class=\"state bad\"") +
         " " + html::words(at(job, "/result/reason"));
}

std::string figure(const std::string& what, const std::string& value, const std::string& beside) {
  return html::element("div", html::element("span", what, "class=\"what\"") +
                                  html::element("strong", value) +
                                  html::element("span", beside, "class=\"beside\""));
}

std::string quality_figure(const Json& result, const std::string& side) {
  const Json before = at(result, ("/" + side + "_before").c_str());
  const Json after = at(result, ("/" + side + "_after").c_str());
  if (!after.is_number()) return "";
  if (const std::string why = no_verdict(result, side); !why.empty())
    return figure(side + " " + html::words(metric_name(result, side)), "no verdict",
                  html::words(at(result, ("/details/samples/" + side + "_validation").c_str())) +
                      " held out");
  return figure(side + " " + html::words(metric_name(result, side)), quality_text(after, result),
                before.is_number() ? "before: " + quality_text(before, result) : "");
}

std::string figures(const Json& job) {
  const Json& result = job.at("result");
  const Json epochs = at(result, "/epochs");
  std::string all =
      quality_figure(result, "local") + quality_figure(result, "global") +
      figure("time", time_text(result), epochs.is_number() ? html::words(epochs) + " epochs" : "");
  if (const Json bytes = at(result, "/details/memory/measured_bytes"); bytes.is_number())
    all += figure("peak of memory", bytes_cell(bytes),
                  "promised: " + bytes_cell(at(result, "/details/memory/predicted_bytes")));
  if (const std::string processors = processors_words(at(result, "/details")); !processors.empty())
    all += figure("processors", html::words(processors), "");
  if (const auto energy = energy_words(at(result, "/details")))
    all += figure("energy", html::words(energy->amount), html::words(energy->source));
  if (const std::size_t count = left_out_count(at(result, "/details")); count > 0)
    all += figure("left out", std::to_string(count), count == 1 ? "sample" : "samples");
  return html::element("div", all, "class=\"figures\"") + "\n";
}

}  // namespace

std::string summary_part(const Json& job) {
  return "<header>\n" +
         html::element("h1",
                       "Job " + html::words(at(job, "/id")) + ": " + html::name(at(job, "/name"))) +
         "\n" + html::paragraph(sentence(job), "class=\"lead\"") +
         html::paragraph(verdict(job), "class=\"verdict\"") + figures(job) + "</header>\n";
}

}  // namespace moil::daemon::ctl
