// A shape's numbers as one argument of a kernel.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "engine/kernels/convolution/conv_shape.h"
#include "engine/opencl/handles.h"

namespace moil::opencl {

// At most 16 of them; the others are 0.
inline cl_int16 packed(std::initializer_list<std::int64_t> numbers) {
  cl_int16 all = {};
  std::size_t i = 0;
  for (const std::int64_t number : numbers) all.s[i++] = static_cast<cl_int>(number);
  return all;
}

// How the kernels of convolutions read numbers_of(), before their own text.
inline constexpr const char* kConvShape = R"CL(
typedef struct {
  int kernel_h, kernel_w, stride_h, stride_w, top, left, gap_h, gap_w;
  int in_h, in_w, out_h, out_w, channels, of_group;
} Shape;

Shape shape_of(int16 n) {
  Shape s;
  s.kernel_h = n.s0, s.kernel_w = n.s1, s.stride_h = n.s2, s.stride_w = n.s3;
  s.top = n.s4, s.left = n.s5, s.gap_h = n.s6, s.gap_w = n.s7;
  s.in_h = n.s8, s.in_w = n.s9, s.out_h = n.sa, s.out_w = n.sb;
  s.channels = n.sc, s.of_group = n.sd;
  return s;
}
)CL";

inline cl_int16 numbers_of(const ConvShape& s) {
  return packed({s.kernel_h, s.kernel_w, s.stride_h, s.stride_w, s.pad_top, s.pad_left,
                 s.dilation_h, s.dilation_w, s.in_h, s.in_w, s.out_h(), s.out_w(), s.in_channels,
                 s.group_in()});
}

}  // namespace moil::opencl
