#include "datasets/images/orientation.h"

#include <libexif/exif-data.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace moil::data {
namespace {

struct Unref {
  void operator()(ExifData* data) const { exif_data_unref(data); }
};

// EXIF stands among the first segments; what follows them is not searched.
constexpr std::size_t kMostSearched = 256 << 10;

// Result rows are columns of the input, from the left or from the right; likewise its columns.
void transpose(const Image& in, bool from_right, bool from_bottom, Image& out) {
  out.resize(in.height, in.width, in.channels);
  const auto channels = static_cast<std::size_t>(in.channels);
  std::uint8_t* to = out.pixels.data();
  for (int y = 0; y < out.height; ++y) {
    const auto column = static_cast<std::size_t>(from_right ? in.width - 1 - y : y);
    for (int x = 0; x < out.width; ++x, to += channels) {
      const auto row = static_cast<std::size_t>(from_bottom ? in.height - 1 - x : x);
      std::copy_n(&in.pixels[row * in.row_bytes() + column * channels], channels, to);
    }
  }
}

void mirror_rows(Image& image) {
  const auto channels = static_cast<std::size_t>(image.channels);
  for (int y = 0; y < image.height; ++y) {
    std::uint8_t* left = &image.pixels[static_cast<std::size_t>(y) * image.row_bytes()];
    std::uint8_t* right = left + image.row_bytes() - channels;
    for (; left < right; left += channels, right -= channels)
      std::swap_ranges(left, left + channels, right);
  }
}

void flip(Image& image) {
  const std::size_t bytes = image.row_bytes();
  for (int y = 0; y < image.height / 2; ++y) {
    std::uint8_t* top = &image.pixels[static_cast<std::size_t>(y) * bytes];
    std::uint8_t* bottom = &image.pixels[static_cast<std::size_t>(image.height - 1 - y) * bytes];
    std::swap_ranges(top, top + bytes, bottom);
  }
}

}  // namespace

int exif_orientation(std::span<const std::uint8_t> jpeg) {
  const std::unique_ptr<ExifData, Unref> data(exif_data_new());
  if (!data) return 1;
  exif_data_load_data(data.get(), jpeg.data(),
                      static_cast<unsigned>(std::min(jpeg.size(), kMostSearched)));
  const ExifEntry* entry = exif_content_get_entry(data->ifd[EXIF_IFD_0], EXIF_TAG_ORIENTATION);
  if (entry == nullptr || entry->format != EXIF_FORMAT_SHORT || entry->components != 1) return 1;
  const int orientation = exif_get_short(entry->data, exif_data_get_byte_order(data.get()));
  return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

void apply_orientation(int orientation, Image& image) {
  if (orientation == 2 || orientation == 3) mirror_rows(image);
  if (orientation == 3 || orientation == 4) flip(image);
  if (orientation < 5 || orientation > 8) return;
  Image turned;
  transpose(image, orientation == 7 || orientation == 8, orientation == 6 || orientation == 7,
            turned);
  std::swap(image, turned);
}

}  // namespace moil::data
