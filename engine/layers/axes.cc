#include "engine/layers/axes.h"

#include <algorithm>
#include <string>

#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/shapes.h"

namespace moil {

Strides memory_strides(const TensorInfo& info) {
  Strides strides = plain_strides(info.dims);
  if (info.layout == Layout::kChannelsLast) {
    const std::int64_t channels = info.dims[1];
    strides[1] = 1;
    strides[3] = channels;
    strides[2] = channels * info.dims[3];
  }
  return strides;
}

bool lies_plainly(const TensorInfo& info) {
  const Dims& d = info.dims;
  return info.layout == Layout::kPlain || d[1] == 1 || d[2] * d[3] == 1;
}

std::size_t require_axis(const TensorInfo& info, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(info.dims.rank());
  if (axis < 1 || axis >= rank) {
    fail_shape("has an axis " + std::to_string(axis) + "; axes of " + info.dims.to_string() +
               " are 1 to " + std::to_string(rank - 1));
  }
  return static_cast<std::size_t>(axis);
}

StridedCopy copy_between(const TensorInfo& info, const Strides& from, const Strides& to) {
  return {info.dims.values(), from, to};
}

Layout read_layout(PropertyReader& reader, Layout fallback) {
  const char* usual = fallback == Layout::kPlain ? "plain" : "channels_last";
  const std::string word = reader.word("layout", usual);
  if (word != "plain" && word != "channels_last")
    fail_shape("property \"layout\" must be \"plain\" or \"channels_last\", is \"" + word + "\"");
  return word == "plain" ? Layout::kPlain : Layout::kChannelsLast;
}

void fill(float value, float* out, std::int64_t count) {
  parallel_for(count, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    std::fill(out + begin, out + end, value);
  });
}

}  // namespace moil
