// What a matrix product or a convolution may apply to its results before it writes them.
#pragma once

#include <cstdint>
#include <string_view>

namespace moil {

enum class FusedActivation : std::uint8_t { kNone, kRelu, kRelu6 };

// "none", "relu", "relu6".
std::string_view to_string(FusedActivation activation);
// Throws kInvalidArgument with the known words.
[[nodiscard]] FusedActivation fused_activation(std::string_view word);

}  // namespace moil
