#include <algorithm>
#include <cstring>

#include "engine/kernels/convolution/convolution.h"

namespace moil {
namespace {

constexpr std::int64_t kTileFloats = 192 * 1024;
constexpr std::int64_t kMostPoints = 384, kLeastPoints = 32;
constexpr std::int64_t kRowUnit = 12;  // a register tile of the product
constexpr std::size_t kMostPartialBytes = std::size_t{2} << 20;

std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

std::int64_t tile_points(std::int64_t row_length) {
  return std::clamp(kTileFloats / row_length, kLeastPoints, kMostPoints);
}

}  // namespace

ConvolutionGradient::ConvolutionGradient(const ConvShape& shape, const MatrixProduct& product)
    : product_(product), grid_(forward_grid(shape)), weight_elements_(shape.weight_elements()) {
  const std::int64_t length = grid_.row_length();
  const auto bytes = static_cast<std::size_t>(weight_elements_) * sizeof(float);
  const int by_points = part_count(grid_.points(), 256);
  const int by_rows = part_count(length, 2 * kRowUnit);
  by_points_ =
      by_points > 1 &&
      (by_rows < by_points || bytes * static_cast<std::size_t>(by_points - 1) <= kMostPartialBytes);
  parts_ = by_points_ ? by_points : by_rows;
  // The first part adds to the gradient itself.
  if (by_points_) partial_bytes_ = padded(bytes);
  if (!grid_.is_source()) {
    const std::int64_t columns =
        by_points_ ? length : (length / parts_ + 2 * kRowUnit);  // parts are cut at units
    tile_points_ = std::min(tile_points(columns), grid_.points());
    tile_bytes_ =
        padded(static_cast<std::size_t>(tile_points_ * std::min(columns, length)) * sizeof(float));
  }
  workspace_bytes_ = static_cast<std::size_t>(parts_) * tile_bytes_ +
                     static_cast<std::size_t>(parts_ - 1) * partial_bytes_;
}

void ConvolutionGradient::run(const float* input, const float* derivative, float* gradient,
                              bool accumulate, std::byte* workspace) const {
  const auto bytes = static_cast<std::size_t>(weight_elements_) * sizeof(float);
  if (!accumulate) std::memset(gradient, 0, bytes);
  auto* partials =
      reinterpret_cast<float*>(workspace + static_cast<std::size_t>(parts_) * tile_bytes_);
  const auto stride = static_cast<std::int64_t>(partial_bytes_ / sizeof(float));
  parallel_parts(parts_, [&](int part) {
    auto* tile = reinterpret_cast<float*>(workspace + static_cast<std::size_t>(part) * tile_bytes_);
    if (!by_points_) {
      add_points({0, grid_.points()}, part_of(grid_.row_length(), part, parts_, kRowUnit), input,
                 derivative, gradient, tile);
      return;
    }
    float* to = part == 0 ? gradient : partials + (part - 1) * stride;
    if (part > 0) std::memset(to, 0, bytes);
    add_points(part_of(grid_.points(), part, parts_), {0, grid_.row_length()}, input, derivative,
               to, tile);
  });
  if (!by_points_) return;
  parallel_for(weight_elements_, 16 * 1024, [&](std::int64_t begin, std::int64_t end) {
    for (int part = 1; part < parts_; ++part) {
      const float* from = partials + (part - 1) * stride;
      for (std::int64_t i = begin; i < end; ++i) gradient[i] += from[i];
    }
  });
}

void ConvolutionGradient::add_points(Range points, Range rows, const float* input,
                                     const float* derivative, float* gradient, float* tile) const {
  if (rows.size() <= 0) return;
  const std::int64_t columns = grid_.columns, depth = grid_.depth;
  const bool direct = grid_.is_source();
  const std::int64_t most = direct ? points.size() : tile_points_;
  for (std::int64_t g = 0; g < grid_.groups; ++g) {
    float* to = gradient + (g * grid_.row_length() + rows.begin) * columns;
    for (std::int64_t p = points.begin; p < points.end; p += most) {
      const std::int64_t count = std::min(most, points.end - p);
      const float* a = tile;
      std::int64_t lda = rows.size();
      if (direct) {
        a = input + p * grid_.source_channels + g * depth + rows.begin;
        lda = grid_.source_channels;
      } else {
        gather(grid_, input + g * depth, p, count, rows.begin, rows.size(), tile);
      }
      product_.multiply_transposed_serial(count, columns, rows.size(), a, lda,
                                          derivative + p * grid_.dest_channels + g * columns,
                                          grid_.dest_channels, to, columns);
    }
  }
}

}  // namespace moil
