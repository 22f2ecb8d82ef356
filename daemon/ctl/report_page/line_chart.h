// A chart of lines over epochs, as SVG that takes its colours from the page's style. Pure.
#pragma once

#include <string>
#include <vector>

namespace moil::daemon::ctl {

struct ChartLine {
  std::string name;       // shown at its end
  std::string css_class;  // gives the colour
  std::vector<std::pair<double, double>> points;
};

// Draws values as `percent` or as numbers; nothing if no line has a point. Points tell their value
// when pointed at, as long as they are few.
[[nodiscard]] std::string draw_line_chart(const std::string& title,
                                          const std::vector<ChartLine>& lines, bool percent);

}  // namespace moil::daemon::ctl
