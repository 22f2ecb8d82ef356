// What is asked of the image decoders, whatever the bytes.
#pragma once

#include <cstdint>
#include <span>

namespace moil::test {

// Decodes the bytes as what they begin as, within small limits: an image that is whole and within
// them, or kBadData. Anything else ends the program.
void try_image(std::span<const std::uint8_t> bytes);

}  // namespace moil::test
