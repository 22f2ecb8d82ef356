// The OpenCL device that tests run on, or why there is none.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/device/processor.h"

namespace moil::test {

struct OpenclDevice {
  std::shared_ptr<Processor> processor;
  std::string missing;
};

inline OpenclDevice opencl_device(const ProcessorOptions& options = {}) {
  try {
    return {open_processor("opencl", options), ""};
  } catch (const ProcessorError& error) {
    return {nullptr, error.what()};
  }
}

}  // namespace moil::test

#define MOIL_NEEDS_OPENCL(device) \
  if (!(device).processor) GTEST_SKIP() << (device).missing;
