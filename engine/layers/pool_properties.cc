#include "engine/layers/pool_properties.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "layer \"" + name + "\": " + what);
}

bool is_list_of(const Properties& properties, const char* name, std::size_t count) {
  const auto it = properties.find(name);
  if (it == properties.end()) return false;
  const auto* list = std::get_if<std::vector<std::int64_t>>(&it->second);
  return list && list->size() == count;
}

std::int64_t outputs(std::int64_t size, std::int64_t before, std::int64_t after,
                     std::int64_t kernel, std::int64_t stride, bool ceil_mode) {
  const std::int64_t room = size + before + after - kernel;
  if (room < 0) return 0;
  if (!ceil_mode) return room / stride + 1;
  const std::int64_t count = (room + stride - 1) / stride + 1;
  return (count - 1) * stride >= size + before ? count - 1 : count;
}

}  // namespace

PoolProperties read_pool_properties(PropertyReader& reader, const std::string& name,
                                    const Properties& properties, PoolGaps gaps) {
  if (!reader.has("kernel")) fail(name, "property \"kernel\" is missing");
  PoolProperties result;
  PoolShape& w = result.window;
  const auto kernel = reader.integers("kernel", 2, 1, 1);
  w.kernel_h = kernel[0], w.kernel_w = kernel[1];
  const auto given = reader.integers("stride", 2, 1, 1);
  const auto& stride = reader.has("stride") ? given : kernel;
  w.stride_h = stride[0], w.stride_w = stride[1];
  if (gaps == PoolGaps::kAllowed) {
    const auto dilation = reader.integers("dilation", 2, 1, 1);
    w.dilation_h = dilation[0];
    w.dilation_w = dilation[1];
  }
  if (is_list_of(properties, "padding", 4)) {
    const auto padding = reader.integers("padding", 4, 0);
    w.pad_top = padding[0], w.pad_left = padding[1];
    w.pad_bottom = padding[2], w.pad_right = padding[3];
  } else {
    const auto padding = reader.integers("padding", 2, 0);
    w.pad_top = w.pad_bottom = padding[0];
    w.pad_left = w.pad_right = padding[1];
  }
  result.ceil_mode = reader.flag("ceil_mode", false);
  if (w.kernel_h > 255 || w.kernel_w > 255) fail(name, "property \"kernel\" must be at most 255");
  if (std::max(w.dilation_h, w.dilation_w) > std::numeric_limits<std::int32_t>::max())
    fail(name, "property \"dilation\" must be below 2^31");
  const bool within = std::max(w.pad_top, w.pad_bottom) <= w.span_h() / 2 &&
                      std::max(w.pad_left, w.pad_right) <= w.span_w() / 2;
  if (!within) fail(name, "property \"padding\" must be at most half the kernel");
  if (std::max(w.stride_h, w.stride_w) > std::numeric_limits<std::int32_t>::max())
    fail(name, "property \"stride\" must be below 2^31");
  return result;
}

PoolShape pool_shape(const PoolProperties& properties, const TensorInfo& input) {
  require_image(input);
  PoolShape s = properties.window;
  s.batch = input.dims[0];
  s.channels = input.dims[1];
  s.in_h = input.dims[2];
  s.in_w = input.dims[3];
  s.out_h = outputs(s.in_h, s.pad_top, s.pad_bottom, s.span_h(), s.stride_h, properties.ceil_mode);
  s.out_w = outputs(s.in_w, s.pad_left, s.pad_right, s.span_w(), s.stride_w, properties.ceil_mode);
  if (s.out_h < 1 || s.out_w < 1) {
    fail_shape("a window of " + std::to_string(s.span_h()) + "x" + std::to_string(s.span_w()) +
               " does not fit into the padded image of " + input.dims.to_string());
  }
  return s;
}

std::int64_t pool_grain(const PoolShape& shape) {
  const std::int64_t reads_a_row = shape.out_w * shape.channels * shape.kernel_h * shape.kernel_w;
  return std::max<std::int64_t>(1, kElementGrain / reads_a_row);
}

TensorInfo pool_output(const PoolShape& shape) {
  return {Dims{shape.batch, shape.channels, shape.out_h, shape.out_w}, Layout::kChannelsLast};
}

}  // namespace moil
