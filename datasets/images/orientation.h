// EXIF orientation: how a camera says that its picture stands otherwise than its pixels do.
//
// Numbered 1 to 8 as EXIF does; 1 is upright. All functions may be called from any thread.
#pragma once

#include <cstdint>
#include <span>

#include "datasets/images/image.h"

namespace moil::data {

// Of a JPEG; 1 where it says nothing, or nothing that can be read.
[[nodiscard]] int exif_orientation(std::span<const std::uint8_t> jpeg);

// Turns and mirrors the pixels so that the image stands upright, as Pillow's exif_transpose does.
// Orientations other than 2 to 8 leave it as it is.
void apply_orientation(int orientation, Image& image);

}  // namespace moil::data
