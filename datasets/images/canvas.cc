#include "datasets/images/canvas.h"

#include <algorithm>

namespace moil::data {

Canvas::Canvas(Image& image, int width, int height, int channels, int orientation)
    : image_(image),
      width_(width),
      height_(height),
      orientation_(orientation >= 2 && orientation <= 8 ? orientation : 1) {
  if (is_turned(orientation_)) {
    image_.resize(height, width, channels_of(channels));
  } else {
    image_.resize(width, height, channels_of(channels));
  }
  if (channels % 2 == 0) opaque_.resize(static_cast<std::size_t>(width * channels_of(channels)));
}

// Where the stored pixel (x, y) lies in the image, as Pillow's exif_transpose has it.
std::uint8_t* Canvas::place(int x, int y) {
  const bool mirrored =
      orientation_ == 2 || orientation_ == 3 || orientation_ == 7 || orientation_ == 8;
  const bool flipped =
      orientation_ == 3 || orientation_ == 4 || orientation_ == 6 || orientation_ == 7;
  if (mirrored) x = width_ - 1 - x;
  if (flipped) y = height_ - 1 - y;
  if (is_turned(orientation_)) std::swap(x, y);
  return &image_.pixels[static_cast<std::size_t>(y) * image_.row_bytes() +
                        static_cast<std::size_t>(x) * static_cast<std::size_t>(image_.channels)];
}

void Canvas::put(int y, const std::uint8_t* row) {
  const auto channels = static_cast<std::size_t>(image_.channels);
  if (!opaque_.empty()) {
    const auto stored = channels + 1;
    for (std::size_t x = 0; x < static_cast<std::size_t>(width_); ++x) {
      for (std::size_t c = 0; c < channels; ++c)
        opaque_[x * channels + c] = on_white(row[x * stored + c], row[x * stored + channels]);
    }
    row = opaque_.data();
  }
  std::uint8_t* to = place(0, y);
  if (orientation_ == 1 || orientation_ == 4) {
    std::copy_n(row, image_.row_bytes(), to);
    return;
  }
  const std::ptrdiff_t step = width_ > 1 ? place(1, y) - to : 0;
  for (int x = 0; x < width_; ++x, row += channels, to += step) std::copy_n(row, channels, to);
}

}  // namespace moil::data
