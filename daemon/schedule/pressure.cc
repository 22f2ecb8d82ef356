#include "daemon/schedule/pressure.h"

#include <cmath>
#include <cstdlib>

namespace moil::daemon {

std::optional<double> parse_pressure(const std::string& text) {
  constexpr const char* kMinute = "avg60=";
  if (!text.starts_with("some ")) return std::nullopt;
  const std::string some = text.substr(0, text.find('\n'));
  const auto at = some.find(kMinute);
  if (at == std::string::npos) return std::nullopt;
  const char* begin = some.c_str() + at + std::string(kMinute).size();
  char* end = nullptr;
  const double percent = std::strtod(begin, &end);
  if (end == begin || !std::isfinite(percent) || percent < 0 || percent > 100) return std::nullopt;
  return percent / 100;
}

}  // namespace moil::daemon
