// Depthwise convolution, vectorised over channels: F, CD and CG of any stride, dilation, padding.
//
// Images are [N,H,W,C], weights [KH][KW][C] (see conv_shape.h); the shape must be depthwise().
// An output is the same chain of multiply-adds wherever
// it stands. Thread-safe; parallel inside; nothing allocates.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/kernels/convolution/conv_shape.h"
#include "engine/kernels/gemm/gemm.h"

namespace moil {

inline constexpr std::int64_t kMostDepthwiseTaps = 128;

void depthwise_forward(const ConvShape& shape, const float* input, const float* weights,
                       const GemmEpilogue& epilogue, float* output);

// Overwrites input_derivative. Work is that of F: pixels that no output meets become zero.
void depthwise_derivative(const ConvShape& shape, const float* output_derivative,
                          const float* weights, float* input_derivative);

[[nodiscard]] std::size_t depthwise_gradient_workspace(const ConvShape& shape);
void depthwise_gradient(const ConvShape& shape, const float* input, const float* output_derivative,
                        float* gradient, bool accumulate, std::byte* workspace);

}  // namespace moil
