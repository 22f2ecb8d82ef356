#include <algorithm>

#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/report_page/html.h"
#include "daemon/ctl/report_page/sections.h"
#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

struct Part {
  std::string name;
  double value = 0;
  std::string text;
};

std::string bars(const std::vector<Part>& parts, double most) {
  std::string rows;
  for (const Part& part : parts)
    rows += html::row({html::words(part.name), html::bar(most > 0 ? part.value / most : 0),
                       html::words(part.text)});
  return rows.empty() ? "" : html::table({}, rows, "class=\"bars\"");
}

double largest(const std::vector<Part>& parts) {
  double most = 0;
  for (const Part& part : parts) most = std::max(most, part.value);
  return most;
}

std::string part_of_cost(const std::string& title, const std::string& html) {
  return html.empty() ? "" : html::element("div", html::element("h3", title) + "\n" + html) + "\n";
}

std::string time_bars(const Json& stages) {
  std::vector<Part> parts;
  for (const auto& [stage, seconds] : stages_in_order(stages))
    parts.push_back({stage, seconds, short_time_text(seconds)});
  return bars(parts, largest(parts));
}

std::string memory_bars(const Json& memory) {
  std::vector<Part> parts;
  for (const auto& [words, bytes] : memory_figures(memory))
    parts.push_back({words, bytes, bytes_text(bytes)});
  return bars(parts, largest(parts));
}

}  // namespace

std::string cost_section(const Json& job) {
  const Json details = at(job, "/result/details");
  Rows trained = trained_rows(details);
  for (const Rows& more :
       {new_label_rows(details), silent_label_rows(details), denied_in_vain_rows(details)})
    trained.insert(trained.end(), more.begin(), more.end());
  const std::string parts =
      part_of_cost("Time by stage", time_bars(at(details, "/stages"))) +
      part_of_cost("Memory", memory_bars(at(details, "/memory"))) +
      part_of_cost("Feature maps", html::key_table(cache_rows(at(details, "/cache")))) +
      part_of_cost("Trained", html::key_table(trained));
  if (parts.empty()) return "";
  return html::section("What it cost", html::element("div", parts, "class=\"pair\"") + "\n");
}

}  // namespace moil::daemon::ctl
