// A recording as it is heard in passing: with low noise before it and behind it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace moil::data {

// A WAV file of one channel, 48,000 samples of 16 bits a second: the recording with so many seconds
// of noise, -60 dB of full scale, on each side. The same bytes for the same recording. All of it is
// in memory. Throws as SoundFile.
[[nodiscard]] std::vector<std::uint8_t> with_margins(std::span<const std::uint8_t> recording,
                                                     std::string_view name, double seconds);

}  // namespace moil::data
