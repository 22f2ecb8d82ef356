// Which taps of a depthwise convolution meet which pixels of a line: shared by its steps.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/kernels/convolution/depthwise.h"

namespace moil {

// Along one axis: destination i reads source i * step + offset for the i in [first, last).
struct AxisTap {
  std::int64_t kernel_index, offset, first, last;
};

struct AxisTaps {
  AxisTap taps[kMostDepthwiseTaps];
  int count = 0;
  std::int64_t step = 1;

  // [-, +) of destinations with 0 <= i * step + offset < source, within [0, size).
  void add(std::int64_t kernel_index, std::int64_t offset, std::int64_t source, std::int64_t size) {
    const std::int64_t first = offset >= 0 ? 0 : (-offset + step - 1) / step;
    const std::int64_t last = source > offset ? (source - offset + step - 1) / step : 0;
    taps[count++] = {kernel_index, offset, std::min(first, size), std::min(last, size)};
  }

  // Where the set of taps that meet changes next behind i.
  std::int64_t next_change(std::int64_t i, std::int64_t size) const {
    std::int64_t next = size;
    for (int t = 0; t < count; ++t) {
      if (taps[t].first > i)
        next = std::min(next, taps[t].first);
      else if (taps[t].last > i)
        next = std::min(next, taps[t].last);
    }
    return next;
  }
};

// F along an axis.
inline AxisTaps forward_taps(std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                             std::int64_t pad, std::int64_t in, std::int64_t out) {
  AxisTaps axis;
  axis.step = stride;
  for (std::int64_t k = 0; k < kernel; ++k) axis.add(k, k * dilation - pad, in, out);
  return axis;
}

// CD along an axis, for the inputs phase, phase + stride, ...: input phase + i * stride meets the
// outputs i + offset.
inline AxisTaps derivative_taps(std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                                std::int64_t pad, std::int64_t phase, std::int64_t in,
                                std::int64_t out) {
  AxisTaps axis;
  const std::int64_t size = (in - phase + stride - 1) / stride;
  for (std::int64_t k = 0; k < kernel; ++k) {
    const std::int64_t at = phase + pad - k * dilation;
    if (at % stride == 0) axis.add(k, at / stride, out, size);
  }
  return axis;
}

// Taps of a stretch of pixels, as pointers.
struct TapList {
  const float* source[kMostDepthwiseTaps];
  std::int64_t kernel_index[kMostDepthwiseTaps];
  int count = 0;
};

// For the line `row` of the destination: calls stretch(first pixel, pixels, taps) for each stretch
// of its [0, size) pixels that meets the same taps.
template <class Stretch>
void walk_line(const AxisTaps& vertical, const AxisTaps& horizontal, std::int64_t row,
               std::int64_t size, std::int64_t kernel_w, const float* image,
               std::int64_t line_length, std::int64_t channels, const Stretch& stretch) {
  for (std::int64_t i = 0; i < size;) {
    const std::int64_t next = horizontal.next_change(i, size);
    TapList list;
    for (int v = 0; v < vertical.count; ++v) {
      const AxisTap& y = vertical.taps[v];
      if (row < y.first || row >= y.last) continue;
      const float* line = image + (row * vertical.step + y.offset) * line_length;
      for (int h = 0; h < horizontal.count; ++h) {
        const AxisTap& x = horizontal.taps[h];
        if (i < x.first || i >= x.last) continue;
        list.source[list.count] = line + (i * horizontal.step + x.offset) * channels;
        list.kernel_index[list.count++] = y.kernel_index * kernel_w + x.kernel_index;
      }
    }
    stretch(i, next - i, list);
    i = next;
  }
}

}  // namespace moil
