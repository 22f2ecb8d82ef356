// The median, of which a disturbed measurement moves little.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace moil {

// Of an even number of values the larger of the middle two; there must be one.
[[nodiscard]] inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace moil
