// A shape's numbers as one argument of a kernel.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "engine/kernels/conv_shape.h"
#include "engine/opencl/handles.h"

namespace moil::opencl {

// At most 16 of them; the others are 0.
inline cl_int16 packed(std::initializer_list<std::int64_t> numbers) {
  cl_int16 all = {};
  std::size_t i = 0;
  for (const std::int64_t number : numbers) all.s[i++] = static_cast<cl_int>(number);
  return all;
}

// As the kernels of convolutions read them.
inline cl_int16 numbers_of(const ConvShape& s) {
  return packed({s.kernel_h, s.kernel_w, s.stride_h, s.stride_w, s.pad_top, s.pad_left,
                 s.dilation_h, s.dilation_w, s.in_h, s.in_w, s.out_h(), s.out_w(), s.in_channels,
                 s.group_in()});
}

}  // namespace moil::opencl
