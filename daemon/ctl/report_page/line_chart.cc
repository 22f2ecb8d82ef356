#include "daemon/ctl/report_page/line_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/svg.h"
#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

constexpr double kWidth = 460, kHeight = 230, kLeft = 46, kRight = 74, kTop = 14, kBottom = 34;
constexpr double kTicks = 5, kLabelGap = 13;
constexpr std::size_t kMostDots = 60;  // of a line

// 1, 2 or 5 times a power of ten.
double nice_step(double range, double ticks) {
  const double raw = range / ticks, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power) return factor * power;
  return 10 * power;
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool is_empty() const { return low > high; }
  double size() const { return high - low; }
};

class Chart {
 public:
  Chart(const std::vector<ChartLine>& lines, const ChartAxes& axes)
      : lines_(lines), percent_(axes.percent), across_(axes.across) {
    for (const ChartLine& line : lines_) {
      for (const auto& [x, y] : line.points) {
        x_.add(x);
        y_.add(y);
      }
    }
  }
  bool is_empty() const { return x_.is_empty(); }

  std::string draw(const std::string& title) {
    widen();
    out_ = "<svg class=\"chart\" role=\"img\" viewBox=\"0 0 " + svg::number(kWidth) + " " +
           svg::number(kHeight) + "\"><title>" + svg::escaped(title) + "</title>\n";
    axes();
    for (const ChartLine& line : lines_) draw_line(line);
    names();
    return out_ + "</svg>\n";
  }

 private:
  // To whole steps of the axes; a share ends at none and all.
  void widen() {
    if (x_.size() == 0) x_.add(x_.low + 1);
    if (y_.size() == 0) y_.add(y_.low == 0 ? 1 : y_.low * 0.9);
    step_ = nice_step(y_.size(), kTicks);
    y_ = {std::floor(y_.low / step_) * step_, std::ceil(y_.high / step_) * step_};
    if (percent_) y_ = {std::max(0.0, y_.low), std::min(1.0, y_.high)};
  }
  double px(double x) const { return kLeft + (kWidth - kLeft - kRight) * (x - x_.low) / x_.size(); }
  double py(double y) const {
    return kHeight - kBottom - (kHeight - kTop - kBottom) * (y - y_.low) / y_.size();
  }
  std::string value_text(double y) const {
    return percent_ ? percent(Json(y)) : formatted(Json(y), "%.4g");
  }
  std::string tick_text(double y) const {
    return percent_ ? formatted(Json(100 * y), "%.4g%%") : formatted(Json(y), "%.4g");
  }

  void axes() {
    for (double y = y_.low; y <= y_.high + step_ / 2; y += step_) {
      out_ += svg::line(kLeft, py(y), kWidth - kRight, py(y), "class=\"grid\"");
      out_ += svg::text(kLeft - 6, py(y) + 4, tick_text(y), "text-anchor=\"end\"");
    }
    const double step = std::max(1.0, nice_step(x_.size(), 6));
    for (double x = std::ceil(x_.low / step) * step; x <= x_.high; x += step)
      out_ += svg::text(px(x), kHeight - kBottom + 16, formatted(Json(x), "%.0f"),
                        "text-anchor=\"middle\"");
    out_ += svg::text(px((x_.low + x_.high) / 2), kHeight - 4, across_, "text-anchor=\"middle\"");
  }

  void draw_line(const ChartLine& line) {
    std::string points;
    for (const auto& [x, y] : line.points)
      points += (points.empty() ? "" : " ") + svg::number(px(x)) + "," + svg::number(py(y));
    out_ += "<polyline class=\"line " + line.css_class + "\" points=\"" + points + "\"/>\n";
    if (line.points.size() > kMostDots) return;
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      const auto& [x, y] = line.points[i];
      const std::string place =
          i < line.tips.size() ? line.tips[i] : across_ + " " + formatted(Json(x), "%.0f");
      const std::string tip = line.name + ", " + printable(place) + ": " + value_text(y);
      out_ += "<circle class=\"dot " + line.css_class + "\" cx=\"" + svg::number(px(x)) +
              "\" cy=\"" + svg::number(py(y)) + "\" r=\"3\"><title>" + svg::escaped(tip) +
              "</title></circle>\n";
    }
  }

  // Beside their lines' ends, pushed apart if these meet.
  void names() {
    std::vector<std::pair<double, const ChartLine*>> ends;
    for (const ChartLine& line : lines_)
      if (!line.points.empty()) ends.emplace_back(py(line.points.back().second), &line);
    std::ranges::sort(ends);
    double free = 0;
    for (const auto& [end, line] : ends) {
      const double y = std::max(end, free);
      out_ += svg::text(kWidth - kRight + 8, y + 4, line->name,
                        "class=\"name " + line->css_class + "\"");
      free = y + kLabelGap;
    }
  }

  const std::vector<ChartLine>& lines_;
  const bool percent_;
  const std::string across_;
  Range x_, y_;
  double step_ = 1;
  std::string out_;
};

}  // namespace

std::string draw_line_chart(const std::string& title, const std::vector<ChartLine>& lines,
                            const ChartAxes& axes) {
  Chart chart(lines, axes);
  return chart.is_empty() ? "" : chart.draw(title);
}

}  // namespace moil::daemon::ctl
