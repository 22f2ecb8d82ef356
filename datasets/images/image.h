// A decoded image: 8 bits a channel, rows from the top, channels last (HWC), no padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace moil::data {

struct Image {
  int width = 0;
  int height = 0;
  int channels = 0;                  // 1 grey, 3 RGB; 4 RGBA if one is made to be encoded
  std::vector<std::uint8_t> pixels;  // height * width * channels

  // Sets the shape; the pixels' memory is reused and their values are unspecified.
  void resize(int new_width, int new_height, int new_channels) {
    width = new_width;
    height = new_height;
    channels = new_channels;
    if (pixels.capacity() < size()) pixels = {};  // before more is taken, and nothing is copied
    pixels.resize(size());
  }
  [[nodiscard]] std::size_t row_bytes() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels);
  }
  [[nodiscard]] std::size_t size() const { return row_bytes() * static_cast<std::size_t>(height); }
  bool operator==(const Image&) const = default;
};

}  // namespace moil::data
