// The head of a WAV file of one channel, 16 bits, little-endian, whose length nobody knows.
#pragma once

#include <cstdint>
#include <vector>

namespace moil::data {

[[nodiscard]] std::vector<std::uint8_t> wav_head(int rate);

}  // namespace moil::data
