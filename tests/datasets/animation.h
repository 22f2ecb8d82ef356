// Animations, written as the formats' specifications have them.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace moil::data::test {

struct AnimationFrame {
  std::vector<std::uint8_t> webp;  // of a simple file, as encode_webp() makes one
  int x = 0, y = 0;                // even
  int width = 0, height = 0;
};

inline std::vector<std::uint8_t> animated_webp(int width, int height,
                                               const std::vector<AnimationFrame>& frames) {
  const auto little = [](int v, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(v >> (8 * i));
    return text;
  };
  const auto chunk = [&](const std::string& name, const std::string& content) {
    return name + little(static_cast<int>(content.size()), 4) + content +
           std::string(content.size() % 2, '\0');
  };
  constexpr int kAnimated = 0x02, kHasAlpha = 0x10, kMilliseconds = 100;
  constexpr std::size_t kRiffHeader = 12;
  std::string body = "WEBP" + chunk("VP8X", little(kAnimated | kHasAlpha, 4) +
                                                little(width - 1, 3) + little(height - 1, 3));
  body += chunk("ANIM", little(0, 4) + little(0, 2));  // background, loops
  for (const AnimationFrame& frame : frames)
    body +=
        chunk("ANMF", little(frame.x / 2, 3) + little(frame.y / 2, 3) + little(frame.width - 1, 3) +
                          little(frame.height - 1, 3) + little(kMilliseconds, 3) + little(0, 1) +
                          std::string(frame.webp.begin() + kRiffHeader, frame.webp.end()));
  const std::string file = chunk("RIFF", body);
  return {file.begin(), file.end()};
}

// Two PNG files of the same sides and format, whose pixels are one chunk each.
inline std::vector<std::uint8_t> animated_png(const std::vector<std::uint8_t>& first,
                                              const std::vector<std::uint8_t>& second) {
  const auto big = [](std::size_t v, int bytes = 4) {
    std::string text;
    while (bytes-- > 0) text += static_cast<char>(v >> (8 * bytes));
    return text;
  };
  const auto chunk = [&](const std::string& name, const std::string& content) {
    const std::string all = name + content;
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(all.data()), static_cast<uInt>(all.size()));
    return big(content.size()) + all + big(sum);
  };
  constexpr std::size_t kHeader = 33, kSides = 16, kChunk = 12, kEnd = 12;
  const std::string one(first.begin(), first.end()), two(second.begin(), second.end());
  const std::string sides = one.substr(kSides, 8);
  const auto frame = [&](std::size_t number) {
    return chunk("fcTL",
                 big(number) + sides + big(0) + big(0) + big(1, 2) + big(10, 2) + big(0, 2));
  };
  const std::size_t pixels = two.find("IDAT") + 4;
  const std::string file =
      one.substr(0, kHeader) + chunk("acTL", big(2) + big(0)) + frame(0) +
      one.substr(kHeader, one.size() - kHeader - kEnd) + frame(1) +
      chunk("fdAT", big(2) + two.substr(pixels, two.size() - pixels - 4 - kChunk)) +
      one.substr(one.size() - kEnd);
  return {file.begin(), file.end()};
}

}  // namespace moil::data::test
