// A convolution as a product of matrices, without the matrix: a grid of points in every image, and
// the taps that each point reads.
//
// Point (i, j) of an image reads, for each tap, `depth` channels at source pixel
// (i * source_step_h + dy, j * source_step_w + dx), zeros outside; a row of the matrix is these in
// the taps' order. Its result goes to destination pixel (dest_y + i * dest_step_h, ...). F is one
// such grid; CD is one for each phase of the stride, with the taps that meet it, so that every
// input pixel is gathered once and nothing is scattered.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/kernels/convolution/conv_shape.h"

namespace moil {

struct TapGrid {
  struct Tap {
    std::int64_t dy = 0, dx = 0;
    std::int64_t kernel_index = 0;  // kernel row * KW + kernel column
  };
  // Taps whose pixels are neighbours in memory are copied as one run.
  struct Run {
    std::int64_t dy = 0, dx = 0;
    std::int64_t taps = 0;
  };

  std::int64_t batch = 1, source_h = 1, source_w = 1, source_channels = 1;
  std::int64_t source_step_h = 1, source_step_w = 1;
  std::int64_t depth = 1;    // channels of a group that a tap reads
  std::int64_t columns = 1;  // channels of a group that a point writes
  std::int64_t groups = 1;
  std::int64_t grid_h = 1, grid_w = 1;
  std::int64_t dest_h = 1, dest_w = 1, dest_channels = 1;
  std::int64_t dest_step_h = 1, dest_step_w = 1, dest_y = 0, dest_x = 0;
  std::vector<Tap> taps;
  std::vector<Run> runs;

  std::int64_t points() const { return batch * grid_h * grid_w; }
  std::int64_t row_length() const { return static_cast<std::int64_t>(taps.size()) * depth; }
  // The matrix is the source itself.
  bool is_source() const;
  // Rows of the result lie one after the other in the destination.
  bool fills_destination() const { return dest_step_h == 1 && dest_step_w == 1; }
};

TapGrid forward_grid(const ConvShape& shape);
// One for each phase of the stride that has pixels; a grid without taps has zero as its result.
std::vector<TapGrid> derivative_grids(const ConvShape& shape);

// Columns [column, column + columns) of the matrix's rows [row, row + rows), to tile[rows x
// columns]. The source begins at the group's first channel.
void gather(const TapGrid& grid, const float* source, std::int64_t row, std::int64_t rows,
            std::int64_t column, std::int64_t columns, float* tile);

// tile[rows x grid.columns] to the destination, which begins at the group's first channel.
void scatter(const TapGrid& grid, const float* tile, std::int64_t row, std::int64_t rows,
             float* dest);

}  // namespace moil
