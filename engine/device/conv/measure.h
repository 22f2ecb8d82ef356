// The time of a kernel on tensors of its shape's size.
#pragma once

#include <memory>
#include <vector>

#include "engine/device/conv/conv_kernel.h"
#include "engine/device/conv/measuring_time.h"

namespace moil {

// Seconds of each kernel's fastest run (a neighbour's work only ever adds), after one to warm up;
// if all are quick, of more than `runs`, and if they are long, of one. The kernels take
// turns, so that what disturbs the machine for a while disturbs them alike; one that is much slower
// than the best so far is not run again. They are of one shape, step and fusion. Allocates the
// tensors (see scratch.h) and frees them. Throws kResourceExhausted. time: when it is over, no
// further run begins; empty if not all have had one by then.
[[nodiscard]] std::vector<double> measure(const std::vector<std::unique_ptr<ConvKernel>>& kernels,
                                          const ConvShape& shape, ConvStep step,
                                          const ConvFusion& fusion, int runs = 3,
                                          const MeasuringTime* time = nullptr);

// The batch that is enough to measure kernels of this shape with: each of its runs takes long
// enough to be told apart, and no longer.
[[nodiscard]] std::int64_t measured_batch(const ConvShape& shape, const ConvFusion& fusion);

}  // namespace moil
