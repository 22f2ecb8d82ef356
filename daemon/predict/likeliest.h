// Which of several outcomes are the likeliest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace moil::night {

// Their numbers, `most` at most, the likeliest first; if several are as likely, the lower number.
[[nodiscard]] inline std::vector<std::uint32_t> likeliest(std::span<const float> chances,
                                                          std::size_t most) {
  std::vector<std::uint32_t> order(chances.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t count = std::min(most, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](auto a, auto b) { return chances[a] != chances[b] ? chances[a] > chances[b] : a < b; });
  order.resize(count);
  return order;
}

}  // namespace moil::night
