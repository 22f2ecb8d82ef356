// Where a tensor's axes lie in memory, and copies between tensors of other orders.
#pragma once

#include <array>
#include <cstdint>

#include "engine/kernels/rows/strided_copy.h"
#include "engine/layers/properties.h"
#include "engine/tensor/spec.h"

namespace moil {

using Strides = std::array<std::int64_t, Dims::kMaxRank>;

// Elements from one index of each logical axis to the next, in memory.
[[nodiscard]] Strides memory_strides(const TensorInfo& info);

// Elements that follow one another as the logical order has them: plain, or an image of one channel
// or one pixel.
[[nodiscard]] bool lies_plainly(const TensorInfo& info);

// Throws kInvalidArgument for an axis that is not behind the batch.
[[nodiscard]] std::size_t require_axis(const TensorInfo& info, std::int64_t axis);

// Every element of `info` from one order to another: `from` and `to` are strides by axis of `info`.
[[nodiscard]] StridedCopy copy_between(const TensorInfo& info, const Strides& from,
                                       const Strides& to);

// The property "layout" of a layer whose result may be of rank 4: "plain" or "channels_last".
[[nodiscard]] Layout read_layout(PropertyReader& reader, Layout fallback);

// All `count` elements, in parallel.
void fill(float value, float* out, std::int64_t count);

}  // namespace moil
