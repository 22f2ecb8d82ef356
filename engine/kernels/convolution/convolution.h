// Convolution by products of matrices: F, CD and CG of any shape, in tiles.
//
// Rows of the product's matrix are gathered a tile at a time, about a megabyte a thread, never the
// whole batch. Each object is made for one shape, holds no tensor memory and allocates nothing in
// run(); workspaces are aligned to 64 bytes. Thread-compatible; run() uses threads inside.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/kernels/convolution/conv_shape.h"
#include "engine/kernels/convolution/tap_grid.h"
#include "engine/kernels/gemm/matrix_product.h"
#include "engine/kernels/parallel.h"

namespace moil {

// F if made of forward_grid, CD if made of derivative_grids.
class TapConvolution {
 public:
  enum class Direction : std::uint8_t { kForward, kDerivative };
  TapConvolution(const ConvShape& shape, Direction direction, const MatrixProduct& product);

  // The weights in the product's form, for all grids and groups.
  std::size_t packed_bytes() const { return packed_bytes_; }
  void pack(const float* weights, std::byte* packed) const;

  // Without the packed weights.
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  // bias: out_channels values or null, and the activation, for F alone.
  void run(const float* source, const std::byte* packed, float* dest, const GemmEpilogue& epilogue,
           std::byte* workspace) const;

 private:
  void run_grid(const TapGrid& grid, const float* source, const std::byte* packed, float* dest,
                const GemmEpilogue& epilogue, std::byte* workspace) const;
  void run_tile(const TapGrid& grid, std::int64_t row, std::int64_t rows, const float* source,
                const std::byte* packed, float* dest, const GemmEpilogue& epilogue,
                float* tile) const;
  std::size_t packed_group_bytes(const TapGrid& grid) const;

  const MatrixProduct& product_;
  Direction direction_;
  std::int64_t group_in_, group_out_, kernel_area_;
  std::vector<TapGrid> grids_;
  std::size_t packed_bytes_ = 0, workspace_bytes_ = 0;
};

// CG of the weights.
class ConvolutionGradient {
 public:
  ConvolutionGradient(const ConvShape& shape, const MatrixProduct& product);

  std::size_t workspace_bytes() const { return workspace_bytes_; }
  void run(const float* input, const float* output_derivative, float* gradient, bool accumulate,
           std::byte* workspace) const;

 private:
  // Adds the points' share of the gradient's rows, of all groups, to `gradient`.
  void add_points(Range points, Range rows, const float* input, const float* derivative,
                  float* gradient, float* tile) const;

  const MatrixProduct& product_;
  TapGrid grid_;
  std::int64_t weight_elements_;
  bool by_points_ = false;  // threads share out points and add up; otherwise the gradient's rows
  int parts_ = 1;
  std::int64_t tile_points_ = 0;  // gathered at a time
  std::size_t tile_bytes_ = 0, partial_bytes_ = 0, workspace_bytes_ = 0;
};

}  // namespace moil
