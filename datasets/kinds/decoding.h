// Whether a file of a media type that is taken holds what it says, whatever model will see it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace moil::data {

// Decodes a photo, a sound's first ten minutes, numbers, or each of these in an archive; text is
// what it is. kBadData, beginning with `name`, for what cannot be decoded, and for an archive that
// holds none of these.
// Any thread.
void check_decodes(std::span<const std::uint8_t> bytes, std::string_view name);

}  // namespace moil::data
