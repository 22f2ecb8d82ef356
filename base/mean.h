#pragma once

#include <vector>

namespace moil {

// No values have the mean 0.
[[nodiscard]] inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace moil
