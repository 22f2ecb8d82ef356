#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/report_page/html.h"
#include "daemon/ctl/report_page/sections.h"
#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

// "n 1, alpha 0.05"
std::string settings_text(const Json& settings) {
  std::string text;
  if (!settings.is_object()) return text;
  for (const auto& [name, value] : settings.items())
    text += (text.empty() ? "" : ", ") + html::words(name) + " " + html::words(value);
  return text;
}

// The choice names more than a trial varies.
bool is_part_of(const Json& settings, const Json& chosen) {
  if (!settings.is_object() || !chosen.is_object()) return false;
  for (const auto& [name, value] : settings.items())
    if (!chosen.contains(name) || chosen.at(name) != value) return false;
  return true;
}

std::string trial_row(const Json& trial, const Json& chosen, const Json& result) {
  const bool is_chosen = is_part_of(at(trial, "/settings"), chosen);
  const Json seconds = at(trial, "/seconds");
  std::string verdict = at(trial, "/held") == false ? "not held" : "";
  if (is_chosen) verdict = "<b>chosen</b>";
  if (const Json why = at(trial, "/why"); why.is_string() && why != "")
    verdict += (verdict.empty() ? "" : ": ") + html::words(why);
  return html::row(
      {settings_text(at(trial, "/settings")), quality_text(at(trial, "/local"), result),
       global_quality_text(at(trial, "/global"), result), html::words(at(trial, "/samples")),
       seconds.is_number() ? short_time_text(seconds.get<double>()) : "-", verdict},
      is_chosen ? "class=\"chosen\"" : "");
}

}  // namespace

std::string trials_section(const Json& job) {
  const Json found = at(job, "/result/details/auto");
  if (!found.is_object()) return "";
  const Json chosen = at(found, "/chosen"), trials = at(found, "/trials");
  std::string body;
  if (const Json why = at(found, "/why"); why.is_string())
    body += html::paragraph(html::words(why), "class=\"lead\"");
  std::string outcome = "Chosen: " + settings_text(chosen) + ".";
  if (const auto seconds = number_at(found, "/seconds"))
    outcome += " The trials took " + short_time_text(*seconds) + ".";
  body += html::paragraph(outcome);
  std::string rows;
  for (const Json& trial : trials) rows += trial_row(trial, chosen, at(job, "/result"));
  if (!rows.empty())
    body += html::table({"settings", "local", "global", "samples", "took", ""}, rows,
                        "class=\"trials\"");
  return html::section("What the automatic settings tried", body);
}

}  // namespace moil::daemon::ctl
