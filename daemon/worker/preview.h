// moil-worker preview: strangers' images decoded, as small JPEGs. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "daemon/json/fields.h"

namespace moil::worker {

using ReadImage = std::function<std::vector<std::uint8_t>()>;  // may throw

// For each image {"jpeg" (base64), "width", "height"}, upright and at most `size` pixels wide and
// high, or {"error": {"code", "message"}}. Smaller images stay as they are.
[[nodiscard]] daemon::Json previews(const std::vector<ReadImage>& images, int size);

}  // namespace moil::worker
