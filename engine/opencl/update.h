// AG on the device: kernels/update.h, element by element.
#pragma once

#include "engine/kernels/rows/update.h"
#include "engine/opencl/kernel.h"

namespace moil::opencl {

class Updates {
 public:
  explicit Updates(Device& device);
  void run(const RangeMemory& memory, const SgdCoefficients& k, const UpdateRanges& r);
  void run(const RangeMemory& memory, const AdamCoefficients& k, const UpdateRanges& r);

 private:
  Kernel sgd_, adam_;
};

}  // namespace moil::opencl
