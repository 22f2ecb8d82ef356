// Damage in a JPEG's coded pixels that a decoder does not notice.
#pragma once

#include <cstdint>
#include <span>

namespace moil::data {

// Whether part of a scan was overwritten with zeros, as a disk or a download leaves a hole. Zero
// bits are valid codes: they decode as a pattern that no picture has, without a warning. If the
// tables give zero bits a meaning that pictures have (nothing changes), they are not suspected.
[[nodiscard]] bool has_zeroed_scan(std::span<const std::uint8_t> jpeg);

}  // namespace moil::data
