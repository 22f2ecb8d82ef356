// What kind of file a sample is, by its first bytes. Nothing is parsed: whether it is sound shows
// when the worker decodes it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace moil::data {

inline constexpr std::string_view kJpeg = "image/jpeg";
inline constexpr std::string_view kPng = "image/png";
inline constexpr std::string_view kWebp = "image/webp";
inline constexpr std::string_view kWav = "audio/wav";
inline constexpr std::string_view kOgg = "audio/ogg";
inline constexpr std::string_view kFlac = "audio/flac";
inline constexpr std::string_view kMp3 = "audio/mpeg";
inline constexpr std::string_view kNpy = "application/x-npy";
inline constexpr std::string_view kCsv =
    "text/csv";  // lines of numbers, a line of names before them
inline constexpr std::string_view kText = "text/plain";
inline constexpr std::string_view kUtf16 = "text/plain; charset=utf-16";  // not taken
inline constexpr std::string_view kTar = "application/x-tar";  // several files of one sample
inline constexpr std::string_view kUnknownMedia = "application/octet-stream";

// Also of what is not taken, so that it can be told by name. Empty content: kUnknownMedia.
[[nodiscard]] std::string_view media_type_of(std::span<const std::uint8_t> bytes);

// Whether decode_image() reads it.
[[nodiscard]] bool is_image(std::string_view media_type);
// Whether the kind `sound` reads it.
[[nodiscard]] bool is_sound(std::string_view media_type);
// Whether it holds numbers, as the kind `rows` reads them.
[[nodiscard]] bool is_numbers(std::string_view media_type);
// Whether it is text, be it a table's, as the kind `tokens` reads it.
[[nodiscard]] bool is_text(std::string_view media_type);
// Whether there is a kind of model for it that reads nothing else: photos and numbers as above,
// sounds, and archives of them.
[[nodiscard]] bool is_taken(std::string_view media_type);

// With a mark or without.
[[nodiscard]] bool is_utf16(std::string_view content);

// How the files of what is taken end, ".jpg"; empty for others.
[[nodiscard]] std::string_view media_ending(std::string_view media_type);

// "a HEIC photo", "text": what people call it.
[[nodiscard]] std::string_view media_name(std::string_view media_type);
// Why a sample of it is not taken and what would be, as in "FILE: it is ...".
[[nodiscard]] std::string media_refusal(std::string_view media_type);

}  // namespace moil::data
