// A chart of lines over epochs or nights, as SVG that takes its colours from the page's style.
// Pure.
#pragma once

#include <string>
#include <vector>

namespace moil::daemon::ctl {

struct ChartLine {
  std::string name;       // shown at its end
  std::string css_class;  // gives the colour
  std::vector<std::pair<double, double>> points;
  std::vector<std::string> tips;  // what each point is called; none: by its place
};

struct ChartAxes {
  bool percent = false;          // of the values
  std::string across = "epoch";  // what points are places of
};

// Nothing if no line has a point. Points tell their value when pointed at, as long as they are few.
[[nodiscard]] std::string draw_line_chart(const std::string& title,
                                          const std::vector<ChartLine>& lines,
                                          const ChartAxes& axes);

}  // namespace moil::daemon::ctl
