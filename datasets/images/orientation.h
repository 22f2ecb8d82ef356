// EXIF orientation: how a camera says that its picture stands otherwise than its pixels do.
//
// Numbered 1 to 8 as EXIF does; 1 is upright. All functions may be called from any thread.
#pragma once

#include <cstdint>
#include <span>

namespace moil::data {

// What a JPEG says, or EXIF data as PNG's eXIf and WebP's EXIF chunk hold it (with or without the
// leading "Exif"); 1 if it says nothing, or nothing that can be read.
[[nodiscard]] int exif_orientation(std::span<const std::uint8_t> jpeg_or_exif);

}  // namespace moil::data
