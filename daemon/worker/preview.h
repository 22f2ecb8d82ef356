// moil-worker preview: strangers' photos and sounds decoded, as small JPEGs. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "daemon/json/fields.h"

namespace moil::worker {

using ReadSample = std::function<std::vector<std::uint8_t>()>;  // may throw

// For each sample {"jpeg" (base64), "width", "height"}, at most `size` pixels wide and high, or
// {"error": {"code", "message"}}. Photos are upright, and smaller ones stay as they are. A sound's
// is the outline, `size` pixels wide and half as high, of its first kMostShownSeconds; "seconds"
// says of how many, and "silent" which share of them is softer than data::kSoundFloor.
[[nodiscard]] Json previews(const std::vector<ReadSample>& samples, int size);

inline constexpr double kMostShownSeconds = 600;

}  // namespace moil::worker
