// The OpenCL processor: the first device that OpenCL offers, a GPU before any other kind.
#pragma once

#include <memory>

#include "engine/device/processor.h"

namespace moil {

// ProcessorError if this build has no OpenCL, the machine no driver, or the driver no device.
[[nodiscard]] std::unique_ptr<Processor> open_opencl(const ProcessorOptions& options);

}  // namespace moil
