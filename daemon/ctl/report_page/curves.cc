#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/report_page/html.h"
#include "daemon/ctl/report_page/line_chart.h"
#include "daemon/ctl/report_page/sections.h"

namespace moil::daemon::ctl {
namespace {

ChartLine line_of(const Json& curve, const std::string& name, const std::string& member) {
  ChartLine line{name, member, {}};
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

std::string figure(const std::string& title, const std::string& chart) {
  if (chart.empty()) return "";
  return html::element("figure", html::element("figcaption", title) + "\n" + chart) + "\n";
}

}  // namespace

std::string curves_section(const Json& job) {
  const Json curve = at(job, "/result/details/curve");
  const std::string metric = html::words(metric_name(job.at("result"), "local"));
  const bool is_fraction = at(job, "/result/is_fraction") != false;
  const std::string loss =
      draw_line_chart("loss by epoch", {line_of(curve, "loss", "loss")}, false);
  if (loss.empty()) return "";
  const std::string quality = draw_line_chart(
      metric + " by epoch", {quality_line(job, "local"), quality_line(job, "global")}, is_fraction);
  std::string body = html::element(
      "div", figure(metric + " on held-out samples", quality) + figure("training loss", loss),
      "class=\"pair\"");
  if (quality.empty())
    body += html::paragraph(
        "The job did not ask for the " + metric + " of every epoch (evaluate_every_epoch).",
        "class=\"remark\"");
  return html::section("How it learned", body);
}

}  // namespace moil::daemon::ctl
