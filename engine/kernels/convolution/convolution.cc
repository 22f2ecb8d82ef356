#include "engine/kernels/convolution/convolution.h"

#include <algorithm>

namespace moil {
namespace {

constexpr std::int64_t kTileFloats = 192 * 1024;
constexpr std::int64_t kMostRows = 480, kLeastRows = 24;

std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// Rows gathered at once: a tile near the second-level cache's size.
std::int64_t tile_rows(const TapGrid& grid) {
  const std::int64_t fit = kTileFloats / std::max<std::int64_t>(1, grid.row_length());
  return std::min(std::clamp(fit, kLeastRows, kMostRows), grid.points());
}

// A thread's gathered rows, and its results if they do not go straight to the destination.
std::size_t tile_bytes(const TapGrid& grid) {
  const std::int64_t results = grid.fills_destination() ? 0 : grid.columns;
  const std::int64_t floats = tile_rows(grid) * (grid.row_length() + results);
  return padded(static_cast<std::size_t>(floats) * sizeof(float));
}

}  // namespace

TapConvolution::TapConvolution(const ConvShape& shape, Direction direction,
                               const MatrixProduct& product)
    : product_(product),
      direction_(direction),
      group_in_(shape.group_in()),
      group_out_(shape.group_out()),
      kernel_area_(shape.kernel_area()) {
  if (direction == Direction::kForward)
    grids_.push_back(forward_grid(shape));
  else
    grids_ = derivative_grids(shape);
  for (const TapGrid& grid : grids_) {
    packed_bytes_ += packed_group_bytes(grid) * static_cast<std::size_t>(grid.groups);
    if (grid.is_source() && grid.fills_destination()) continue;
    workspace_bytes_ =
        std::max(workspace_bytes_, tile_bytes(grid) * static_cast<std::size_t>(thread_count()));
  }
}

std::size_t TapConvolution::packed_group_bytes(const TapGrid& grid) const {
  return padded(product_.packed_bytes(grid.row_length(), grid.columns));
}

void TapConvolution::pack(const float* weights, std::byte* packed) const {
  const std::int64_t tap_size = group_in_ * group_out_;
  const auto transposed = direction_ == Direction::kForward ? Transpose::kNo : Transpose::kYes;
  for (const TapGrid& grid : grids_) {
    for (std::int64_t g = 0; g < grid.groups; ++g, packed += packed_group_bytes(grid)) {
      std::int64_t row = 0;
      for (const TapGrid::Tap& tap : grid.taps) {
        product_.pack_rows(transposed, grid.row_length(), grid.columns, row, grid.depth,
                           weights + (g * kernel_area_ + tap.kernel_index) * tap_size, group_out_,
                           packed);
        row += grid.depth;
      }
    }
  }
}

void TapConvolution::run(const float* source, const std::byte* packed, float* dest,
                         const GemmEpilogue& epilogue, std::byte* workspace) const {
  for (const TapGrid& grid : grids_) {
    run_grid(grid, source, packed, dest, epilogue, workspace);
    packed += packed_group_bytes(grid) * static_cast<std::size_t>(grid.groups);
  }
}

void TapConvolution::run_grid(const TapGrid& grid, const float* source, const std::byte* packed,
                              float* dest, const GemmEpilogue& epilogue,
                              std::byte* workspace) const {
  if (grid.is_source() && grid.fills_destination()) {
    for (std::int64_t g = 0; g < grid.groups; ++g) {
      GemmEpilogue of_group = epilogue;
      if (epilogue.bias) of_group.bias += g * grid.columns;
      product_.multiply(grid.points(), grid.columns, grid.depth, source + g * grid.depth,
                        grid.source_channels,
                        packed + static_cast<std::size_t>(g) * packed_group_bytes(grid),
                        dest + g * grid.columns, grid.dest_channels, of_group);
    }
    return;
  }
  const std::int64_t most = tile_rows(grid);
  const std::int64_t work = std::max<std::int64_t>(1, grid.row_length() * grid.columns);
  const std::int64_t grain = std::max<std::int64_t>(12, 64 * 1024 / work);
  parallel_for(grid.points(), grain, [&](int part, std::int64_t begin, std::int64_t end) {
    auto* tile =
        reinterpret_cast<float*>(workspace + static_cast<std::size_t>(part) * tile_bytes(grid));
    for (std::int64_t row = begin; row < end; row += most)
      run_tile(grid, row, std::min(most, end - row), source, packed, dest, epilogue, tile);
  });
}

void TapConvolution::run_tile(const TapGrid& grid, std::int64_t row, std::int64_t rows,
                              const float* source, const std::byte* packed, float* dest,
                              const GemmEpilogue& epilogue, float* tile) const {
  const std::int64_t length = grid.row_length();
  float* results = tile + rows * length;
  for (std::int64_t g = 0; g < grid.groups; ++g) {
    GemmEpilogue of_group = epilogue;
    if (epilogue.bias) of_group.bias += g * grid.columns;
    float* to = dest + g * grid.columns;
    const bool direct = grid.fills_destination();
    float* c = direct ? to + row * grid.dest_channels : results;
    const std::int64_t ldc = direct ? grid.dest_channels : grid.columns;
    if (length == 0) {
      std::fill(c, c + rows * ldc, 0.0F);  // never direct: a stride of one meets every tap
    } else {
      gather(grid, source + g * grid.depth, row, rows, 0, length, tile);
      product_.multiply_serial(rows, grid.columns, length, tile, length,
                               packed + static_cast<std::size_t>(g) * packed_group_bytes(grid), c,
                               ldc, of_group);
    }
    if (!direct) scatter(grid, results, row, rows, to);
  }
}

}  // namespace moil
