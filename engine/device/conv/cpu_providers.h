// The providers of convolution kernels for the CPU. Objects of static lifetime; thread-safe.
#pragma once

#include "engine/device/conv/conv_kernel.h"

namespace moil {

const KernelProvider& native_provider();    // our own code, through Highway: every CPU
const KernelProvider& openblas_provider();  // the same tiles, with OpenBLAS's products
const KernelProvider& onednn_provider();    // in builds with oneDNN (MOIL_HAVE_ONEDNN)

}  // namespace moil
