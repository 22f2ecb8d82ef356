// The properties that windowed pooling layers share, and the shape that follows from them.
#pragma once

#include <cstdint>
#include <string>

#include "engine/kernels/convolution/pooling.h"
#include "engine/layers/properties.h"
#include "engine/tensor/spec.h"

namespace moil {

// Whether a window may have gaps: property dilation = 1.
enum class PoolGaps { kRefused, kAllowed };

// kernel, stride = kernel, padding = 0, ceil_mode = false.
struct PoolProperties {
  PoolShape window;  // kernel, stride, padding and dilation alone
  bool ceil_mode = false;
};

// Throws kInvalidArgument naming the layer and the property.
[[nodiscard]] PoolProperties read_pool_properties(PropertyReader& reader, const std::string& name,
                                                  const Properties& properties,
                                                  PoolGaps gaps = PoolGaps::kRefused);

// Output sizes as PyTorch computes them: with ceil_mode a last window may hang over the end, unless
// it would begin in the padding. Throws kInvalidArgument if the kernel does not fit.
[[nodiscard]] PoolShape pool_shape(const PoolProperties& properties, const TensorInfo& input);

// Rows (of the input or the output) that are worth a thread of their own.
[[nodiscard]] std::int64_t pool_grain(const PoolShape& shape);

[[nodiscard]] TensorInfo pool_output(const PoolShape& shape);

}  // namespace moil
