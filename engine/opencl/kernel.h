// A kernel of ours, and how it is started.
//
// Kernels take buffers, ints and floats; a null buffer is a null pointer in the kernel. They run
// one work item a place of a one-dimensional range, in groups of kGroup, and are told how many
// places there are, as their last argument.
#pragma once

#include <cstdint>

#include "engine/opencl/device.h"
#include "engine/opencl/memory.h"

namespace moil::opencl {

inline constexpr std::size_t kGroup = 64;

class Kernel {
 public:
  Kernel(Device& device, const char* source, const char* name) : device_(device) {
    cl_int code = CL_SUCCESS;
    kernel_.reset(clCreateKernel(device.program(source), name, &code));
    check(code, name);
  }

  template <class... Args>
  void run(std::int64_t places, const Args&... args) {
    cl_uint index = 0;
    (set(index++, args), ...);
    set(index, as_int(places));
    if (places == 0) return;
    const std::size_t global = (static_cast<std::size_t>(places) + kGroup - 1) / kGroup * kGroup;
    check(clEnqueueNDRangeKernel(device_.queue(), kernel_.get(), 1, nullptr, &global, &kGroup, 0,
                                 nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }

 private:
  static cl_int as_int(std::int64_t value) {
    if (value > INT32_MAX) throw ProcessorError("OpenCL: a tensor is too large for a kernel");
    return static_cast<cl_int>(value);
  }
  void set(cl_uint index, cl_mem buffer) {
    check(clSetKernelArg(kernel_.get(), index, sizeof(buffer), &buffer), "clSetKernelArg");
  }
  void set(cl_uint index, float value) {
    check(clSetKernelArg(kernel_.get(), index, sizeof(value), &value), "clSetKernelArg");
  }
  void set(cl_uint index, std::int64_t value) { set(index, as_int(value)); }
  void set(cl_uint index, bool value) { set(index, static_cast<cl_int>(value)); }
  void set(cl_uint index, const cl_int16& value) {
    check(clSetKernelArg(kernel_.get(), index, sizeof(value), &value), "clSetKernelArg");
  }
  void set(cl_uint index, cl_int value) {
    check(clSetKernelArg(kernel_.get(), index, sizeof(value), &value), "clSetKernelArg");
  }

  Device& device_;
  KernelHandle kernel_;
};

}  // namespace moil::opencl
