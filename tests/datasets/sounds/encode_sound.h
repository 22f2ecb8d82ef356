// Sound files for tests, written by libsndfile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace moil::data::test {

enum class SoundFormat { kWav16, kWav24, kWavFloat, kFlac, kVorbis, kOpus, kMp3 };
inline constexpr SoundFormat kSoundFormats[] = {
    SoundFormat::kWav16,  SoundFormat::kWav24, SoundFormat::kWavFloat, SoundFormat::kFlac,
    SoundFormat::kVorbis, SoundFormat::kOpus,  SoundFormat::kMp3};

// Channels interleaved.
std::vector<std::uint8_t> encode_sound(SoundFormat format, int rate, int channels,
                                       const std::vector<float>& samples);

// Four channels, WXYZ, of floats.
std::vector<std::uint8_t> encode_ambisonic(int rate, const std::vector<float>& samples);
// A W64 file, of 16 bits.
std::vector<std::uint8_t> encode_w64(int rate, const std::vector<float>& samples);

// Half as loud as can be.
std::vector<float> tone(int rate, double hertz, double seconds, int channels = 1);

}  // namespace moil::data::test
