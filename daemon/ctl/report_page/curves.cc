#include <algorithm>

#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/report_page/html.h"
#include "daemon/ctl/report_page/line_chart.h"
#include "daemon/ctl/report_page/sections.h"

namespace moil::daemon::ctl {
namespace {

ChartLine line_of(const Json& curve, const std::string& name, const std::string& member) {
  ChartLine line{name, member, {}, {}};
  for (const Json& point : curve) {
    const auto epoch = number_at(point, "/epoch");
    const auto value = number_at(point, ("/" + member).c_str());
    if (epoch && value) line.points.emplace_back(*epoch, *value);
  }
  return line;
}

// From the model before the night on, which is epoch 0.
ChartLine quality_line(const Json& job, const std::string& side) {
  ChartLine line = line_of(at(job, "/result/details/curve"), side, side);
  const Json& result = job.at("result");
  if (const std::string name = metric_name(result, side); name != metric_name(result, "local"))
    line.name = name;
  const auto before = number_at(job, ("/result/" + side + "_before").c_str());
  if (before && !line.points.empty()) line.points.insert(line.points.begin(), {0.0, *before});
  return line;
}

// A few points, or a loss that stays where it was, are no curve.
bool says_something(const ChartLine& loss) {
  constexpr std::size_t kFewest = 4;
  constexpr double kFlat = 0.02;  // of the largest
  if (loss.points.size() < kFewest) return false;
  const auto [low, high] = std::ranges::minmax_element(
      loss.points, {}, [](const std::pair<double, double>& point) { return point.second; });
  return high->second - low->second > kFlat * std::abs(high->second);
}

std::string figure(const std::string& title, const std::string& chart) {
  if (chart.empty()) return "";
  return html::element("figure", html::element("figcaption", title) + "\n" + chart) + "\n";
}

}  // namespace

std::string curves_section(const Json& job) {
  const Json curve = at(job, "/result/details/curve");
  const std::string metric = html::words(metric_name(job.at("result"), "local"));
  const bool is_fraction = at(job, "/result/is_fraction") != false;
  const ChartLine losses = line_of(curve, "loss", "loss");
  const std::string loss =
      says_something(losses) ? draw_line_chart("loss by epoch", {losses}, {}) : "";
  const std::string quality = draw_line_chart(
      metric + " by epoch", {quality_line(job, "local"), quality_line(job, "global")},
      {.percent = is_fraction, .across = "epoch"});
  const std::string figures =
      figure(metric + " on held-out samples", quality) + figure("training loss", loss);
  if (figures.empty()) return "";
  return html::section("How it learned", html::element("div", figures, "class=\"pair\"") + "\n");
}

}  // namespace moil::daemon::ctl
