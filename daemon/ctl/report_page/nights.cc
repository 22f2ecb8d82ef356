#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/report_page/html.h"
#include "daemon/ctl/report_page/line_chart.h"
#include "daemon/ctl/report_page/sections.h"
#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

constexpr std::size_t kFewestNights = 2;  // that are a line

// "job 12, 2026-11-03, kept back"
std::string night_text(const Json& night) {
  std::string text = "job " + cell(at(night, "/job"));
  if (const Json when = at(night, "/at"); when.is_string())
    text += ", " + when.get<std::string>().substr(0, when.get<std::string>().find('T'));
  return at(night, "/kept_back") == true ? text + ", kept back" : text;
}

ChartLine line_over(const Json& nights, const std::string& side) {
  ChartLine line{side, side, {}, {}};
  for (std::size_t i = 0; i < nights.size(); ++i) {
    const auto value = number_at(nights[i], ("/" + side).c_str());
    if (!value) continue;
    line.points.emplace_back(static_cast<double>(i + 1), *value);
    line.tips.push_back(night_text(nights[i]));
  }
  return line;
}

}  // namespace

std::string nights_section(const Json& job, const Json& nights) {
  if (!nights.is_array() || nights.size() < kFewestNights) return "";
  const std::string metric = html::words(job.at("result").value("metric", "accuracy"));
  const std::string chart = draw_line_chart(
      metric + " over nights", {line_over(nights, "local"), line_over(nights, "global")},
      {.percent = at(job, "/result/is_fraction") != false, .across = "night"});
  if (chart.empty()) return "";
  return html::section(
      "Night after night",
      html::element("figure",
                    html::element("figcaption", metric + " of the model in service after each of " +
                                                    std::to_string(nights.size()) + " nights") +
                        "\n" + chart,
                    "class=\"alone\"") +
          "\n" +
          html::paragraph("What is held out changes as you label, so the lines may move without "
                          "the model.",
                          "class=\"remark\""));
}

}  // namespace moil::daemon::ctl
