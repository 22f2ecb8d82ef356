#include "engine/plan/plan_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/svg.h"

namespace moil {
namespace {

constexpr double kLeft = 70, kTop = 56, kWidth = 1100, kHeight = 600;
constexpr double kMiB = 1024.0 * 1024.0;

std::string mib(std::size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / kMiB);
  return text;
}

const char* colour(TensorKind kind) {
  switch (kind) {
    case TensorKind::kWeight:
      return "#4878a8";
    case TensorKind::kStatistic:
      return "#9db8d2";
    case TensorKind::kGradient:
      return "#d1605e";
    case TensorKind::kOptimizerState:
      return "#7a5195";
    case TensorKind::kInput:
      return "#6a9f58";
    case TensorKind::kActivation:
      return "#85b66f";
    case TensorKind::kDerivative:
      return "#e7a13d";
    case TensorKind::kSaved:
      return "#b8b0a2";
    case TensorKind::kWorkspace:
      return "#8c8c8c";
  }
  return "#000000";
}

class PlanPicture {
 public:
  PlanPicture(const Graph& graph, const NetworkPlan& plan)
      : report_(report_plan(graph, plan)),
        boxes_(plan_boxes(plan)),
        per_order_(kWidth / std::max(1, report_.orders)),
        per_byte_(kHeight / static_cast<double>(std::max<std::size_t>(1, report_.planned_bytes))) {}

  std::string draw(const std::string& title) {
    out_ = svg::begin(1200, 760);
    out_ += svg::text(kLeft, 24, title, "font-size=\"16\" font-weight=\"bold\"");
    out_ += svg::text(kLeft, 42,
                      "planned " + mib(report_.planned_bytes) + ", lower bound " +
                          mib(report_.lower_bound_bytes) + ", peak at order " +
                          std::to_string(report_.peak_order) + " (" + report_.peak_step + ")");
    axes();
    for (const PlanBox& box : boxes_) add(box);
    marks();
    legend();
    return out_ + "</svg>\n";
  }

 private:
  double x(double order) const { return kLeft + order * per_order_; }
  double y(double address) const { return kTop + kHeight - address * per_byte_; }

  // A round step that gives about `wanted` marks up to `most`.
  static double round_step(double most, int wanted) {
    double step = std::pow(10, std::floor(std::log10(std::max(most / wanted, 1e-9))));
    for (const double factor : {2.0, 2.5, 2.0}) {
      if (most / step > wanted) step *= factor;
    }
    return step;
  }

  void axes() {
    const double most = static_cast<double>(report_.planned_bytes) / kMiB;
    const double step = round_step(most, 10);
    for (int i = 0; step * i <= most; ++i) {
      const double at = y(step * i * kMiB);
      out_ += svg::line(kLeft - 4, at, kLeft + kWidth, at, "stroke=\"#e4e4e4\"");
      char label[24];
      std::snprintf(label, sizeof label, "%.4g", step * i);
      out_ += svg::text(kLeft - 8, at + 4, label, "text-anchor=\"end\"");
    }
    const int every = std::max(1, static_cast<int>(round_step(report_.orders, 14)));
    for (int order = 0; order < report_.orders; order += every) {
      out_ += svg::text(x(order + 0.5), kTop + kHeight + 16, std::to_string(order),
                        "text-anchor=\"middle\"");
    }
    out_ += svg::text(kLeft + kWidth / 2, kTop + kHeight + 34, "execution order",
                      "text-anchor=\"middle\"");
    out_ += svg::text(18, kTop + kHeight / 2, "address in MiB",
                      "text-anchor=\"middle\" transform=\"rotate(-90 18 " +
                          svg::number(kTop + kHeight / 2) + ")\"");
  }

  void add(const PlanBox& box) {
    const double left = x(box.first), right = x(box.last + 1);
    const double top = y(static_cast<double>(box.offset + box.bytes)),
                 bottom = y(static_cast<double>(box.offset));
    out_ += svg::box(left, top, right - left, bottom - top,
                     "fill=\"" + std::string(colour(box.kind)) +
                         "\" fill-opacity=\"0.85\" stroke=\"white\" stroke-width=\"0.6\"",
                     box.name + ": " + to_string(box.kind) + ", " + mib(box.bytes) + ", orders " +
                         std::to_string(box.first) + " to " + std::to_string(box.last));
    const double letters = 5.6 * static_cast<double>(box.name.size());
    if (bottom - top >= 11 && right - left > letters) {
      out_ += svg::text(
          (left + right) / 2, (top + bottom) / 2 + 3.5, box.name,
          "font-size=\"10\" text-anchor=\"middle\" fill=\"white\" pointer-events=\"none\"");
    }
  }

  void marks() {
    const double peak = x(report_.peak_order + 0.5);
    out_ += svg::line(peak, kTop - 4, peak, kTop + kHeight,
                      "stroke=\"#222222\" stroke-width=\"1.2\" stroke-dasharray=\"2 3\"");
    out_ += svg::text(peak, kTop - 7, "peak", "text-anchor=\"middle\"");
    const double bound = y(static_cast<double>(report_.lower_bound_bytes));
    out_ += svg::line(kLeft, bound, kLeft + kWidth, bound,
                      "stroke=\"#c00000\" stroke-width=\"1.4\" stroke-dasharray=\"8 4\"");
    out_ +=
        svg::text(kLeft + kWidth, bound - 4, "lower bound", "text-anchor=\"end\" fill=\"#c00000\"");
  }

  void legend() {
    double at = kLeft;
    for (const auto& [kind, bytes] : report_.totals) {
      out_ += svg::box(at, 712, 12, 12, "fill=\"" + std::string(colour(kind)) + "\"");
      const auto peak = report_.at_peak.find(kind);
      const std::string label = std::string(to_string(kind)) + " " +
                                mib(peak == report_.at_peak.end() ? 0 : peak->second);
      out_ += svg::text(at + 16, 722, label);
      at += 30 + 6.2 * static_cast<double>(label.size());
    }
    out_ += svg::text(kLeft, 744, "amounts: live at the peak", "fill=\"#555555\"");
  }

  PlanReport report_;
  std::vector<PlanBox> boxes_;
  double per_order_, per_byte_;
  std::string out_;
};

}  // namespace

std::string draw_plan(const std::string& title, const Graph& graph, const NetworkPlan& plan) {
  return PlanPicture(graph, plan).draw(title);
}

}  // namespace moil
