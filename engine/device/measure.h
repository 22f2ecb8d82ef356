// The time of a kernel on tensors of its shape's size.
#pragma once

#include <memory>
#include <vector>

#include "engine/device/conv_kernel.h"

namespace moil {

// Seconds of each kernel's fastest run (a neighbour's work only ever adds), after one to warm up;
// where all are quick, of more than `runs`. The kernels take turns, so that what disturbs the
// machine for a while disturbs them alike; one that is more than three times as slow as the best so
// far is not run again. They are of one shape, step and fusion. Allocates the tensors (see
// scratch.h) and frees them. Throws kResourceExhausted.
[[nodiscard]] std::vector<double> measure(const std::vector<std::unique_ptr<ConvKernel>>& kernels,
                                          const ConvShape& shape, ConvStep step,
                                          const ConvFusion& fusion, int runs = 3);

}  // namespace moil
