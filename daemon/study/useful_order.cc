#include "daemon/study/useful_order.h"

#include <algorithm>
#include <cmath>

namespace moil::night {
namespace {

// About the mean, each of length 1 or 0.
std::vector<float> directions(std::span<const float> features, std::size_t width) {
  std::vector<float> found(features.begin(), features.end());
  const std::size_t count = width == 0 ? 0 : found.size() / width;
  for (std::size_t j = 0; j < width; ++j) {
    double mean = 0;
    for (std::size_t i = 0; i < count; ++i) mean += double{found[i * width + j]};
    mean /= static_cast<double>(std::max<std::size_t>(1, count));
    for (std::size_t i = 0; i < count; ++i)
      found[i * width + j] = static_cast<float>(double{found[i * width + j]} - mean);
  }
  for (std::size_t i = 0; i < count; ++i) {
    double square = 0;
    for (std::size_t j = 0; j < width; ++j)
      square += double{found[i * width + j]} * double{found[i * width + j]};
    const auto scale = static_cast<float>(square > 0 ? 1 / std::sqrt(square) : 0);
    for (std::size_t j = 0; j < width; ++j) found[i * width + j] *= scale;
  }
  return found;
}

// So many are held against all others, which takes seconds at most.
std::size_t compared(std::size_t features) {
  constexpr std::size_t kProducts = 5'000'000'000, kLeast = 20;
  return std::max(kLeast, kProducts / std::max<std::size_t>(1, features));
}

}  // namespace

std::vector<std::size_t> useful_order(std::span<const double> uncertainty,
                                      std::span<const float> features, std::size_t width,
                                      std::size_t most) {
  const std::vector<float> rows = directions(features, width);
  std::vector<double> nearest(uncertainty.size(), 1);
  std::vector<std::size_t> order;
  std::vector<char> taken(uncertainty.size());
  const std::size_t wanted = std::min(most, uncertainty.size());
  while (order.size() < std::min(wanted, compared(rows.size()))) {
    double best = -1;
    std::size_t next = 0;
    for (std::size_t i = 0; i < uncertainty.size(); ++i) {
      const double use = uncertainty[i] * nearest[i];
      if (taken[i] == 0 && use > best) {
        best = use;
        next = i;
      }
    }
    taken[next] = 1;
    order.push_back(next);
    for (std::size_t i = 0; i < nearest.size(); ++i) {
      double cosine = 0;
      for (std::size_t j = 0; j < width; ++j)
        cosine += double{rows[i * width + j]} * double{rows[next * width + j]};
      nearest[i] = std::min(nearest[i], (1 - cosine) / 2);
    }
  }
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < uncertainty.size(); ++i)
    if (taken[i] == 0) rest.push_back(i);
  std::ranges::stable_sort(rest, std::ranges::greater{},
                           [&](std::size_t i) { return uncertainty[i] * nearest[i]; });
  for (std::size_t i = 0; order.size() < wanted; ++i) order.push_back(rest[i]);
  return order;
}

}  // namespace moil::night
