// What kind of file a sample is, by its first bytes. Nothing is parsed: whether it is sound shows
// when the worker decodes it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace moil::data {

inline constexpr std::string_view kJpeg = "image/jpeg";
inline constexpr std::string_view kPng = "image/png";
inline constexpr std::string_view kWebp = "image/webp";
inline constexpr std::string_view kWav = "audio/wav";
inline constexpr std::string_view kOgg = "audio/ogg";
inline constexpr std::string_view kUnknownMedia = "application/octet-stream";

[[nodiscard]] std::string_view media_type_of(std::span<const std::uint8_t> bytes);

}  // namespace moil::data
