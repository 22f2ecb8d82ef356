// Bias and a fused activation on [rows, channels] results, in one pass over them.
#pragma once

#include <cstdint>

#include "engine/kernels/gemm/fused_activation.h"
#include "engine/opencl/kernel.h"

namespace moil::opencl {

class BiasAndActivation {
 public:
  explicit BiasAndActivation(Device& device);
  // bias null: none. Nothing if there is nothing to do.
  void run(std::int64_t rows, std::int64_t channels, cl_mem y, cl_mem bias,
           FusedActivation activation);

 private:
  Kernel kernel_;
};

}  // namespace moil::opencl
