// Where decoded rows become an image: upright and without alpha, whatever the format.
//
// Rows come as they are stored, from the top. A row with alpha is composited on white, and each
// pixel is put where the EXIF orientation wants it, so that no second image is needed.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/images/image.h"

namespace moil::data {

// Rounded to nearest; a pixel of alpha 255 stays as it is, one of alpha 0 is white.
[[nodiscard]] inline std::uint8_t on_white(std::uint8_t value, std::uint8_t alpha) {
  return static_cast<std::uint8_t>((value * alpha + 255 * (255 - alpha) + 127) / 255);
}

class Canvas {
 public:
  // `image` gets its shape here; its memory is reused. width and height as stored; channels: 1
  // grey, 2 grey and alpha, 3 RGB, 4 RGBA; orientation as EXIF numbers it, 1 if it is none of 2
  // to 8.
  Canvas(Image& image, int width, int height, int channels, int orientation);

  // The row `y` of the stored picture: width * channels values.
  void put(int y, const std::uint8_t* row);

  // What the image that a canvas makes has.
  [[nodiscard]] static int channels_of(int stored) { return stored >= 3 ? 3 : 1; }
  [[nodiscard]] static bool is_turned(int orientation) {
    return orientation >= 5 && orientation <= 8;
  }

 private:
  std::uint8_t* place(int x, int y);

  Image& image_;
  int width_, height_, orientation_;
  std::vector<std::uint8_t> opaque_;  // one row, if there is alpha
};

}  // namespace moil::data
