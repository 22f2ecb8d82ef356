// Pictures that say by EXIF how they stand, as cameras and image editors write them.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace moil::data::test {

// One directory of one entry.
inline std::string exif_of(int orientation, bool big_endian) {
  const auto two = [&](unsigned v) {
    const char high = static_cast<char>(v >> 8), low = static_cast<char>(v & 255);
    return big_endian ? std::string{high, low} : std::string{low, high};
  };
  const auto four = [&](unsigned v) {
    return big_endian ? two(v >> 16) + two(v & 65535) : two(v & 65535) + two(v >> 16);
  };
  return (big_endian ? "MM" : "II") + two(42) + four(8) + two(1) + two(0x0112) + two(3) + four(1) +
         two(static_cast<unsigned>(orientation)) + two(0) + four(0);
}

// Behind the first marker.
inline std::vector<std::uint8_t> jpeg_with_exif(std::vector<std::uint8_t> jpeg,
                                                const std::string& exif) {
  const std::string content = std::string("Exif\0\0", 6) + exif;
  const std::size_t size = content.size() + 2;
  std::string segment = "\xff\xe1";
  segment += static_cast<char>(size >> 8);
  segment += static_cast<char>(size & 255);
  segment += content;
  jpeg.insert(jpeg.begin() + 2, segment.begin(), segment.end());
  return jpeg;
}

// A chunk eXIf before the pixels or behind them.
inline std::vector<std::uint8_t> png_with_exif(std::vector<std::uint8_t> png,
                                               const std::string& exif, bool behind) {
  const auto four = [](unsigned long v) {
    return std::string{static_cast<char>(v >> 24), static_cast<char>(v >> 16),
                       static_cast<char>(v >> 8), static_cast<char>(v)};
  };
  const std::string content = "eXIf" + exif;
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
  const std::string chunk = four(exif.size()) + content + four(sum);
  constexpr std::ptrdiff_t kBehindHeader = 33, kEnd = 12;
  png.insert(behind ? png.end() - kEnd : png.begin() + kBehindHeader, chunk.begin(), chunk.end());
  return png;
}

// In the extended format: the simple one's only chunk, and EXIF behind it.
inline std::vector<std::uint8_t> webp_with_exif(const std::vector<std::uint8_t>& webp, int width,
                                                int height, bool has_alpha,
                                                const std::string& exif) {
  const auto little = [](std::size_t v, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(v >> (8 * i));
    return text;
  };
  const auto side = [&](int pixels) { return little(static_cast<std::size_t>(pixels - 1), 3); };
  std::string body =
      "WEBPVP8X" + little(10, 4) + little(has_alpha ? 0x18 : 0x08, 4) + side(width) + side(height);
  body.append(webp.begin() + 12, webp.end());
  body += "EXIF" + little(exif.size(), 4) + exif;
  if (exif.size() % 2 == 1) body += '\0';
  const std::string file = "RIFF" + little(body.size(), 4) + body;
  return {file.begin(), file.end()};
}

}  // namespace moil::data::test
