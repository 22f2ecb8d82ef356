// The median, of which a disturbed measurement moves little.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace moil {

// An even number of values has the larger of the middle two; there must be one.
[[nodiscard]] inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// How well measurements repeat themselves: how far the medians of every other one and of those
// between are apart, as a part of the latter's. It is 0 for a single one, or for one that is 0.
[[nodiscard]] inline double median_spread(const std::vector<double>& values) {
  std::array<std::vector<double>, 2> halves;
  for (std::size_t i = 0; i < values.size(); ++i) halves[i % 2].push_back(values[i]);
  if (halves[1].empty()) return 0;
  const double others = median(halves[1]);
  return others == 0 ? 0 : std::abs(median(halves[0]) / others - 1);
}

}  // namespace moil
