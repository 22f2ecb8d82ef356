#include "engine/kernels/convolution/conv_shape.h"

#include <limits>
#include <sstream>

#include "base/error.h"

namespace moil {
namespace {

[[noreturn]] void refuse(const ConvShape& s, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "convolution " + s.to_string() + ": " + why);
}

}  // namespace

std::string ConvShape::to_string() const {
  std::ostringstream text;
  text << 'b' << batch << ' ' << in_channels << 'x' << in_h << 'x' << in_w << " -> " << out_channels
       << " k" << kernel_h << 'x' << kernel_w << " s" << stride_h << 'x' << stride_w << " p"
       << pad_top << ',' << pad_left << ',' << pad_bottom << ',' << pad_right << " d" << dilation_h
       << 'x' << dilation_w << " g" << groups;
  return text.str();
}

void check(const ConvShape& s) {
  for (const std::int64_t v :
       {s.batch, s.in_channels, s.in_h, s.in_w, s.out_channels, s.kernel_h, s.kernel_w, s.stride_h,
        s.stride_w, s.dilation_h, s.dilation_w, s.groups})
    if (v < 1) refuse(s, "sizes, strides, dilations and groups are at least 1");
  for (const std::int64_t v : {s.pad_top, s.pad_left, s.pad_bottom, s.pad_right})
    if (v < 0) refuse(s, "padding is at least 0");
  for (const std::int64_t v : {s.kernel_h, s.kernel_w, s.stride_h, s.stride_w, s.dilation_h,
                               s.dilation_w, s.pad_top, s.pad_left, s.pad_bottom, s.pad_right})
    if (v > std::numeric_limits<std::int32_t>::max())
      refuse(s, "kernels, strides, dilations and padding are below 2^31");
  if (s.in_channels % s.groups != 0 || s.out_channels % s.groups != 0)
    refuse(s, "channels are not divisible by groups");
  if (s.dilation_h * (s.kernel_h - 1) + 1 > s.in_h + s.pad_top + s.pad_bottom ||
      s.dilation_w * (s.kernel_w - 1) + 1 > s.in_w + s.pad_left + s.pad_right)
    refuse(s, "the kernel is larger than the padded input");
}

}  // namespace moil
