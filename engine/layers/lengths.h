// How many positions of each sample of a batch count, the others being padding: int32 [N], the last
// input of a layer that may be given it (the trait takes_lengths).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/tensor/spec.h"

namespace moil {

[[nodiscard]] bool has_lengths(std::span<const TensorInfo> inputs);

// The inputs that hold values. Throws kInvalidArgument if there are lengths, and not one a sample.
[[nodiscard]] std::span<const TensorInfo> without_lengths(std::span<const TensorInfo> inputs);

// Throws kBadData for a length below 0 or above `most`, naming the layer.
void check_lengths(const std::string& layer, std::span<const std::int32_t> lengths,
                   std::int64_t most);

}  // namespace moil
