// A convolution of a batch, slice by slice: a kernel for fewer samples is run several times over
// the same workspace. What the kernel needs per sample (Winograd's transforms) then takes a
// fraction of the memory, at the price of shorter runs.
#pragma once

#include <memory>

#include "engine/device/conv/conv_kernel.h"

namespace moil {

// slice: a kernel for `step` on the shape with batch / slices samples; slices divides the batch.
// Named after the kernel: "onednn/winograd x4".
[[nodiscard]] std::unique_ptr<ConvKernel> make_sliced_conv(std::unique_ptr<ConvKernel> slice,
                                                           const ConvShape& shape, ConvStep step,
                                                           std::int64_t slices);

// "onednn/winograd x4" -> {"onednn/winograd", 4}; without a suffix 1.
std::pair<std::string, std::int64_t> split_sliced_name(const std::string& name);

}  // namespace moil
