#include "engine/kernels/convolution/tap_grid.h"

#include <algorithm>
#include <cstring>

namespace moil {
namespace {

std::size_t bytes(std::int64_t floats) { return static_cast<std::size_t>(floats) * sizeof(float); }

// Neighbouring taps read neighbouring memory only if all channels are read.
void find_runs(TapGrid& grid) {
  const bool whole = grid.depth == grid.source_channels;
  for (const TapGrid::Tap& tap : grid.taps) {
    if (whole && !grid.runs.empty()) {
      TapGrid::Run& last = grid.runs.back();
      if (last.dy == tap.dy && last.dx + last.taps == tap.dx) {
        ++last.taps;
        continue;
      }
    }
    grid.runs.push_back({tap.dy, tap.dx, 1});
  }
}

// Walks the points of a grid in row order.
struct Point {
  const TapGrid& grid;
  std::int64_t image, i, j;

  Point(const TapGrid& g, std::int64_t row)
      : grid(g),
        image(row / (g.grid_h * g.grid_w)),
        i(row / g.grid_w % g.grid_h),
        j(row % g.grid_w) {}
  void next() {
    if (++j < grid.grid_w) return;
    j = 0;
    if (++i < grid.grid_h) return;
    i = 0;
    ++image;
  }
};

// Most runs are short: whole quads, the last one overlapping, are faster than a call.
void copy_floats(float* to, const float* from, std::int64_t count) {
  if (count < 4 || count > 64) {
    std::memcpy(to, from, bytes(count));
    return;
  }
  for (std::int64_t i = 0; i + 4 < count; i += 4) std::memcpy(to + i, from + i, bytes(4));
  std::memcpy(to + count - 4, from + count - 4, bytes(4));
}

// The part [from, to) of a run of `length` floats whose pixels begin at x; line is its row of
// pixels, or null outside the image.
void copy_run(const TapGrid& grid, const float* line, std::int64_t x, std::int64_t from,
              std::int64_t to, float* tile) {
  if (!line) {
    std::memset(tile, 0, bytes(to - from));
    return;
  }
  const std::int64_t depth = grid.depth;
  const std::int64_t first = std::clamp(-x * depth, from, to);
  const std::int64_t last = std::clamp((grid.source_w - x) * depth, first, to);
  if (first == from && last == to) {
    copy_floats(tile, line + x * grid.source_channels + from, to - from);
    return;
  }
  if (first > from) std::memset(tile, 0, bytes(first - from));
  if (last > first) {
    std::memcpy(tile + (first - from), line + x * grid.source_channels + first,
                bytes(last - first));
  }
  if (to > last) std::memset(tile + (last - from), 0, bytes(to - last));
}

}  // namespace

bool TapGrid::is_source() const {
  return taps.size() == 1 && taps[0].dy == 0 && taps[0].dx == 0 && source_step_h == 1 &&
         source_step_w == 1 && grid_h == source_h && grid_w == source_w;
}

TapGrid forward_grid(const ConvShape& s) {
  TapGrid g;
  g.batch = s.batch;
  g.source_h = s.in_h, g.source_w = s.in_w, g.source_channels = s.in_channels;
  g.source_step_h = s.stride_h, g.source_step_w = s.stride_w;
  g.depth = s.group_in(), g.columns = s.group_out(), g.groups = s.groups;
  g.grid_h = g.dest_h = s.out_h(), g.grid_w = g.dest_w = s.out_w();
  g.dest_channels = s.out_channels;
  for (std::int64_t y = 0; y < s.kernel_h; ++y)
    for (std::int64_t x = 0; x < s.kernel_w; ++x)
      g.taps.push_back(
          {y * s.dilation_h - s.pad_top, x * s.dilation_w - s.pad_left, y * s.kernel_w + x});
  find_runs(g);
  return g;
}

// Input pixel y meets output pixel (y + pad - k * dilation) / stride for the k that divide.
std::vector<TapGrid> derivative_grids(const ConvShape& s) {
  TapGrid base;
  base.batch = s.batch;
  base.source_h = s.out_h(), base.source_w = s.out_w(), base.source_channels = s.out_channels;
  base.depth = s.group_out(), base.columns = s.group_in(), base.groups = s.groups;
  base.dest_h = s.in_h, base.dest_w = s.in_w, base.dest_channels = s.in_channels;
  base.dest_step_h = s.stride_h, base.dest_step_w = s.stride_w;
  std::vector<TapGrid> grids;
  for (std::int64_t py = 0; py < std::min(s.stride_h, s.in_h); ++py) {
    for (std::int64_t px = 0; px < std::min(s.stride_w, s.in_w); ++px) {
      TapGrid g = base;
      g.dest_y = py, g.dest_x = px;
      g.grid_h = (s.in_h - py + s.stride_h - 1) / s.stride_h;
      g.grid_w = (s.in_w - px + s.stride_w - 1) / s.stride_w;
      // From the last tap to the first, so that runs go upwards in memory.
      for (std::int64_t k = s.kernel_area() - 1; k >= 0; --k) {
        const std::int64_t y = py + s.pad_top - k / s.kernel_w * s.dilation_h;
        const std::int64_t x = px + s.pad_left - k % s.kernel_w * s.dilation_w;
        if (y % s.stride_h == 0 && x % s.stride_w == 0)
          g.taps.push_back({y / s.stride_h, x / s.stride_w, k});
      }
      find_runs(g);
      grids.push_back(std::move(g));
    }
  }
  return grids;
}

void gather(const TapGrid& grid, const float* source, std::int64_t row, std::int64_t rows,
            std::int64_t column, std::int64_t columns, float* tile) {
  const std::int64_t line_length = grid.source_w * grid.source_channels;
  const std::int64_t end = column + columns;
  Point p(grid, row);
  for (std::int64_t r = 0; r < rows; ++r, p.next()) {
    const float* image = source + p.image * grid.source_h * line_length;
    const std::int64_t y0 = p.i * grid.source_step_h, x0 = p.j * grid.source_step_w;
    std::int64_t at = 0;  // the run's first column
    for (const TapGrid::Run& run : grid.runs) {
      const std::int64_t length = run.taps * grid.depth;
      const std::int64_t from = std::max<std::int64_t>(0, column - at);
      const std::int64_t to = std::min(length, end - at);
      at += length;
      if (from >= to) continue;
      const std::int64_t y = y0 + run.dy;
      const float* line = y >= 0 && y < grid.source_h ? image + y * line_length : nullptr;
      copy_run(grid, line, x0 + run.dx, from, to, tile);
      tile += to - from;
    }
  }
}

void scatter(const TapGrid& grid, const float* tile, std::int64_t row, std::int64_t rows,
             float* dest) {
  Point p(grid, row);
  for (std::int64_t r = 0; r < rows; ++r, p.next(), tile += grid.columns) {
    const std::int64_t y = grid.dest_y + p.i * grid.dest_step_h;
    const std::int64_t x = grid.dest_x + p.j * grid.dest_step_w;
    std::memcpy(dest + ((p.image * grid.dest_h + y) * grid.dest_w + x) * grid.dest_channels, tile,
                bytes(grid.columns));
  }
}

}  // namespace moil
