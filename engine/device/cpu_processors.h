// The processors that compute on the CPU. Objects of static lifetime; thread-safe.
#pragma once

#include "engine/device/conv_kernel.h"

namespace moil {

const Processor& native_processor();    // our own code, through Highway: every CPU
const Processor& openblas_processor();  // the same tiles, with OpenBLAS's products
const Processor& onednn_processor();    // in builds with oneDNN (MOIL_HAVE_ONEDNN)

}  // namespace moil
