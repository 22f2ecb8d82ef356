// OpenCL objects that free themselves, and its error codes as errors.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <memory>
#include <string>
#include <type_traits>

#include "engine/device/processor.h"

namespace moil::opencl {

// "CL_OUT_OF_RESOURCES (-5)".
std::string error_text(cl_int code);

// Throws ProcessorError naming the call if it failed.
inline void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS)
    throw ProcessorError("OpenCL: " + std::string(call) + ": " + error_text(code));
}

template <auto release>
struct Release {
  template <class T>
  void operator()(T* object) const {
    release(object);
  }
};
template <class Handle, auto release>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Release<release>>;

using Context = Owned<cl_context, clReleaseContext>;
using Queue = Owned<cl_command_queue, clReleaseCommandQueue>;
using Memory = Owned<cl_mem, clReleaseMemObject>;
using Program = Owned<cl_program, clReleaseProgram>;
using KernelHandle = Owned<cl_kernel, clReleaseKernel>;
using Event = Owned<cl_event, clReleaseEvent>;

}  // namespace moil::opencl
