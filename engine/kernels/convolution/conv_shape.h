// The shape of a two-dimensional convolution, and how its weights lie in memory.
//
// Images are channels-last: input [N,H,W,C], output [N,OH,OW,O]. Weights lie [g][KH][KW][I/g][O/g];
// if the convolution is depthwise (groups = in = out channels, at most 128 taps), [KH][KW][C].
#pragma once

#include <cstdint>
#include <string>

namespace moil {

struct ConvShape {
  std::int64_t batch = 1, in_channels = 1, in_h = 1, in_w = 1, out_channels = 1;
  std::int64_t kernel_h = 1, kernel_w = 1;
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  std::int64_t dilation_h = 1, dilation_w = 1;
  std::int64_t groups = 1;

  std::int64_t out_h() const {
    return (in_h + pad_top + pad_bottom - dilation_h * (kernel_h - 1) - 1) / stride_h + 1;
  }
  std::int64_t out_w() const {
    return (in_w + pad_left + pad_right - dilation_w * (kernel_w - 1) - 1) / stride_w + 1;
  }
  std::int64_t group_in() const { return in_channels / groups; }
  std::int64_t group_out() const { return out_channels / groups; }
  std::int64_t kernel_area() const { return kernel_h * kernel_w; }
  std::int64_t in_elements() const { return batch * in_h * in_w * in_channels; }
  std::int64_t out_pixels() const { return batch * out_h() * out_w(); }
  std::int64_t out_elements() const { return out_pixels() * out_channels; }
  std::int64_t weight_elements() const { return kernel_area() * group_in() * out_channels; }
  // Multiplications and additions of a direct convolution, for one step.
  double flops() const {
    return 2.0 * static_cast<double>(out_elements()) *
           static_cast<double>(kernel_area() * group_in());
  }
  bool depthwise() const {
    return groups == in_channels && groups == out_channels && groups > 1 && kernel_area() <= 128;
  }
  // A plain product of matrices: [pixels x I] * [I x O].
  bool pointwise() const {
    return kernel_area() == 1 && stride_h == 1 && stride_w == 1 && pad_top == 0 && pad_left == 0 &&
           pad_bottom == 0 && pad_right == 0 && groups == 1;
  }

  // "b32 3x224x224 -> 32 k3x3 s2x2 p1,1,1,1 d1x1 g1": all of it, readable, for keys and messages.
  std::string to_string() const;

  friend bool operator==(const ConvShape&, const ConvShape&) = default;
};

// Throws kInvalidArgument if a number is below its least, channels are not divisible by groups,
// or the kernel does not fit into the padded input.
void check(const ConvShape& shape);

}  // namespace moil
