#include "daemon/doctor/finding.h"

#include <cstdio>
#include <iterator>

namespace moil::daemon {

EnumNames<Finding::Level> enum_names(Finding::Level) {
  return {{Finding::Level::kOk, "ok"},
          {Finding::Level::kWarning, "warning"},
          {Finding::Level::kProblem, "problem"}};
}

Json to_json(const Finding& finding) {
  return {{"what", finding.what},
          {"level", name_of(finding.level)},
          {"says", finding.says},
          {"remedy", finding.remedy.empty() ? Json(nullptr) : Json(finding.remedy)}};
}

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 100 ? "%.0f" : value >= 1 ? "%.1f" : "%.2f", value);
  return text;
}

std::string size_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return figure(bytes) + " " + kUnits[unit];
}

}  // namespace moil::daemon
