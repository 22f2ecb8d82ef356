#include "engine/layers/lengths.h"

#include "base/error.h"
#include "engine/layers/shapes.h"

namespace moil {

bool has_lengths(std::span<const TensorInfo> inputs) {
  return !inputs.empty() && inputs.back().type == ElementType::kInt32;
}

std::span<const TensorInfo> without_lengths(std::span<const TensorInfo> inputs) {
  if (!has_lengths(inputs)) return inputs;
  const auto values = inputs.first(inputs.size() - 1);
  const Dims& lengths = inputs.back().dims;
  if (values.empty()) fail_shape("takes lengths behind its other inputs");
  if (!(lengths == Dims{values[0].dims[0]}) && !(lengths == Dims{values[0].dims[0], 1})) {
    fail_shape("takes a length a sample, [" + std::to_string(values[0].dims[0]) + "], has " +
               lengths.to_string());
  }
  return values;
}

void check_lengths(const std::string& layer, std::span<const std::int32_t> lengths,
                   std::int64_t most) {
  for (const std::int32_t length : lengths) {
    if (length >= 0 && length <= most) continue;
    throw Error(ErrorCode::kBadData, "layer \"" + layer + "\": a length of " +
                                         std::to_string(length) + ", and samples have " +
                                         std::to_string(most) + " positions");
  }
}

}  // namespace moil
