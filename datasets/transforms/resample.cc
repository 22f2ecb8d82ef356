#include "datasets/transforms/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace moil::data {
namespace {

constexpr int kPrecisionBits = 32 - 8 - 2;

double bilinear(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
  return 0.0;
}

std::uint8_t clip8(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kPrecisionBits, 0, 255));
}

std::int32_t fixed_point(double weight) {
  const double scaled = weight * (1 << kPrecisionBits);
  return static_cast<std::int32_t>(weight < 0 ? scaled - 0.5 : scaled + 0.5);
}

// One row of the horizontal pass; a template so that the loop over channels unrolls.
template <int kChannels>
void convolve_row(const std::uint8_t* in, const int* first, const int* count,
                  const std::int32_t* weights, int taps, int size, std::uint8_t* out) {
  for (int x = 0; x < size; ++x, weights += taps, out += kChannels) {
    const std::uint8_t* pixel = in + static_cast<std::ptrdiff_t>(first[x]) * kChannels;
    std::int32_t sums[kChannels];
    std::fill_n(sums, kChannels, 1 << (kPrecisionBits - 1));
    for (int k = 0; k < count[x]; ++k, pixel += kChannels) {
      for (int c = 0; c < kChannels; ++c) sums[c] += pixel[c] * weights[k];
    }
    for (int c = 0; c < kChannels; ++c) out[c] = clip8(sums[c]);
  }
}

}  // namespace

void Resampler::Axis::prepare(int new_input, int new_output, Filter new_filter, int new_from,
                              int new_size) {
  if (input == new_input && output == new_output && filter == new_filter && from == new_from &&
      size == new_size) {
    return;
  }
  input = new_input, output = new_output, filter = new_filter, from = new_from, size = new_size;
  const double scale = static_cast<double>(input) / output;
  const double filter_scale = std::max(scale, 1.0);
  const double support = (filter == Filter::kBilinear ? 1.0 : 2.0) * filter_scale;
  taps = static_cast<int>(std::ceil(support)) * 2 + 1;
  first.resize(static_cast<std::size_t>(size));
  count.resize(static_cast<std::size_t>(size));
  scratch.resize(static_cast<std::size_t>(taps));
  weights.assign(static_cast<std::size_t>(size) * static_cast<std::size_t>(taps), 0);
  for (int i = 0; i < size; ++i) {
    const double center = (from + i + 0.5) * scale;
    const int low = std::max(0, static_cast<int>(center - support + 0.5));
    const int high = std::min(input, static_cast<int>(center + support + 0.5));
    double total = 0;
    for (int k = 0; k < high - low; ++k) {
      const double x = (k + low - center + 0.5) * (1.0 / filter_scale);
      total += scratch[static_cast<std::size_t>(k)] =
          filter == Filter::kBilinear ? bilinear(x) : bicubic(x);
    }
    std::int32_t* row = &weights[static_cast<std::size_t>(i) * static_cast<std::size_t>(taps)];
    for (int k = 0; k < high - low; ++k) {
      row[k] = fixed_point(scratch[static_cast<std::size_t>(k)] / total);
    }
    first[static_cast<std::size_t>(i)] = low;
    count[static_cast<std::size_t>(i)] = high - low;
  }
}

void Resampler::resize(const Image& image, int width, int height, Filter filter,
                       const Window& window, Image& result) {
  columns_.prepare(image.width, width, filter, window.left, window.width);
  rows_.prepare(image.height, height, filter, window.top, window.height);
  const int first_row = rows_.is_identity() ? window.top : rows_.first.front();
  const int last_row =
      rows_.is_identity() ? window.top + window.height : rows_.first.back() + rows_.count.back();
  result.resize(window.width, window.height, image.channels);
  if (columns_.is_identity()) return vertical(image, 0, window.left, result);
  horizontal(image, first_row, last_row - first_row);
  vertical(between_, first_row, 0, result);
}

void Resampler::horizontal(const Image& image, int first_row, int rows) {
  between_.resize(columns_.size, rows, image.channels);
  const auto convolve = image.channels == 1   ? convolve_row<1>
                        : image.channels == 3 ? convolve_row<3>
                                              : convolve_row<4>;
  for (int y = 0; y < rows; ++y) {
    convolve(&image.pixels[static_cast<std::size_t>(first_row + y) * image.row_bytes()],
             columns_.first.data(), columns_.count.data(), columns_.weights.data(), columns_.taps,
             columns_.size, &between_.pixels[static_cast<std::size_t>(y) * between_.row_bytes()]);
  }
}

// `image` has the result's columns from `left` on, and the rows from first_row on.
void Resampler::vertical(const Image& image, int first_row, int left, Image& result) {
  const std::size_t bytes = result.row_bytes();
  const std::uint8_t* base = image.pixels.data() + static_cast<std::size_t>(left) *
                                                       static_cast<std::size_t>(image.channels);
  sums_.resize(bytes);
  for (int y = 0; y < result.height; ++y) {
    std::uint8_t* out = &result.pixels[static_cast<std::size_t>(y) * bytes];
    if (rows_.is_identity()) {
      const auto row = static_cast<std::size_t>(rows_.from + y - first_row);
      std::memcpy(out, base + row * image.row_bytes(), bytes);
      continue;
    }
    const auto i = static_cast<std::size_t>(y);
    std::fill(sums_.begin(), sums_.end(), 1 << (kPrecisionBits - 1));
    for (int k = 0; k < rows_.count[i]; ++k) {
      const std::int32_t weight =
          rows_.weights[i * static_cast<std::size_t>(rows_.taps) + static_cast<std::size_t>(k)];
      const std::uint8_t* in =
          base + static_cast<std::size_t>(rows_.first[i] + k - first_row) * image.row_bytes();
      for (std::size_t x = 0; x < bytes; ++x) sums_[x] += in[x] * weight;
    }
    for (std::size_t x = 0; x < bytes; ++x) out[x] = clip8(sums_[x]);
  }
}

}  // namespace moil::data
