#include "engine/train/clip.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"

namespace moil {
namespace {

// A tensor is cut into pieces by its size alone; their sums wait here to be added in order.
constexpr int kMostPieces = 64;

double squares_of(const GradientView& gradient) {
  const auto pieces =
      static_cast<int>(std::clamp<std::int64_t>(gradient.elements / kElementGrain, 1, kMostPieces));
  std::array<double, kMostPieces> sums{};
  parallel_parts(pieces, [&](int piece) {
    const Range range = part_of(gradient.elements, piece, pieces);
    sums[static_cast<std::size_t>(piece)] = sum_of_squares(gradient.data, range.begin, range.end);
  });
  double total = 0;
  for (int piece = 0; piece < pieces; ++piece) total += sums[static_cast<std::size_t>(piece)];
  return total;
}

}  // namespace

double global_norm(std::span<const GradientView> gradients) {
  double total = 0;
  for (const auto& gradient : gradients) total += squares_of(gradient);
  return std::sqrt(total);
}

double clip_factor(double norm, double max_norm) {
  if (max_norm <= 0) return 1;
  return std::min(1.0, max_norm / (norm + 1e-6));
}

}  // namespace moil
