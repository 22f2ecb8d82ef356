#include "datasets/transforms/transform.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace moil::data {
namespace {

constexpr std::int64_t kMaxResizedSide = 1 << 24;

std::uint8_t grey_of(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >>
                                   16);
}

// Half to even, as torchvision rounds: its CenterCrop is at 0.5.
int crop_offset(int image, int crop, double at) {
  return static_cast<int>(std::lrint(at * (image - crop)));
}

void mirror(Image& image) {
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t row = 0; row < image.size(); row += image.row_bytes()) {
    std::uint8_t* left = &image.pixels[row];
    std::uint8_t* right = left + image.row_bytes() - channels;
    for (; left < right; left += channels, right -= channels)
      std::swap_ranges(left, left + channels, right);
  }
}

std::size_t sides(int width, int height) {
  return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
}

Error too_large(const Image& image) {
  return {ErrorCode::kBadData, "the image is " + std::to_string(image.width) + "x" +
                                   std::to_string(image.height) + ", too long to resize"};
}

}  // namespace

Transform::Transform(Preprocessing description) : description_(std::move(description)) {
  description_.check();
  normalised_.resize(static_cast<std::size_t>(description_.channels));
  for (std::size_t c = 0; c < normalised_.size(); ++c) {
    for (int value = 0; value < 256; ++value) {
      normalised_[c][static_cast<std::size_t>(value)] = static_cast<float>(
          (value * description_.scale - description_.mean[c]) / description_.stddev[c]);
    }
  }
}

// Grey out of RGB comes before resizing, as Pillow has it.
const Image& Transform::convert(const Image& image) {
  if (image.channels <= description_.channels) return image;
  converted_.resize(image.width, image.height, 1);
  const std::uint8_t* in = image.pixels.data();
  for (std::size_t p = 0; p < converted_.size(); ++p) converted_.pixels[p] = grey_of(in + 3 * p);
  return converted_;
}

// RGB out of grey comes after it: each channel would be resized alike.
const Image& Transform::spread(const Image& image) {
  if (image.channels == description_.channels) return image;
  spread_.resize(image.width, image.height, description_.channels);
  for (std::size_t p = 0; p < image.size(); ++p)
    std::fill_n(&spread_.pixels[3 * p], 3, image.pixels[p]);
  return spread_;
}

// Width and height before the crop; the longer side is truncated, as torchvision's Resize does.
std::pair<int, int> Transform::resized(const Image& image) const {
  const Preprocessing& d = description_;
  if (d.resize == Preprocessing::Resize::kExact) return {d.width, d.height};
  if (d.resize == Preprocessing::Resize::kNone) return {image.width, image.height};
  const auto in_proportion = [&](int longer, int shorter) {
    const std::int64_t side = std::int64_t{d.short_side} * longer / shorter;
    if (side <= kMaxResizedSide) return static_cast<int>(side);
    throw too_large(image);
  };
  if (image.width <= image.height) {
    return {d.short_side, in_proportion(image.height, image.width)};
  }
  return {in_proportion(image.width, image.height), d.short_side};
}

std::pair<int, int> Transform::enlarged(const Image& image, double zoom) const {
  const auto [width, height] = resized(image);
  if (zoom == 1 || description_.resize == Preprocessing::Resize::kNone) return {width, height};
  if (std::max(width, height) * zoom > kMaxResizedSide) throw too_large(image);
  return {static_cast<int>(std::lrint(width * zoom)), static_cast<int>(std::lrint(height * zoom))};
}

const Image& Transform::crop(const Image& image, const View& view) {
  const Preprocessing& d = description_;
  const auto [width, height] = enlarged(image, view.zoom);
  if (width < d.width || height < d.height) {
    throw Error(ErrorCode::kBadData, "the image is " + std::to_string(width) + "x" +
                                         std::to_string(height) +
                                         " (width x height), smaller than the crop of " +
                                         std::to_string(d.width) + "x" + std::to_string(d.height));
  }
  const Image& converted = convert(image);
  if (width == d.width && height == d.height && width == image.width && height == image.height) {
    return converted;
  }
  const Window window{crop_offset(width, d.width, view.x), crop_offset(height, d.height, view.y),
                      d.width, d.height};
  resampler_.resize(converted, width, height, d.filter, window, cropped_);
  return cropped_;
}

const Image& Transform::geometry(const Image& image, const View& view) {
  view.check();
  const Image& cut = spread(crop(image, view));
  if (!view.flip) return cut;
  if (&cut == &spread_) {
    mirror(spread_);
    return spread_;
  }
  if (&cut != &cropped_) cropped_ = cut;
  mirror(cropped_);
  return cropped_;
}

void Transform::release() {
  for (Image* image : {&converted_, &cropped_, &spread_}) *image = {};
  resampler_ = {};
}

std::size_t Transform::working_bytes(int width, int height, int channels) const {
  constexpr std::size_t kWeights = 32;  // of a row or column: two filters' taps, 4 bytes each
  const Preprocessing& d = description_;
  const std::size_t converted = channels > d.channels ? sides(width, height) : 0;
  const std::size_t between = sides(d.width, std::max(width, height)) * 3;
  return converted + between + kWeights * static_cast<std::size_t>(width + height) + 8 * d.floats();
}

void Transform::apply(const Image& image, const View& view, float* out) {
  const Image& pixels = geometry(image, view);
  const auto channels = normalised_.size();
  const std::uint8_t* in = pixels.pixels.data();
  for (std::size_t i = 0; i < floats(); i += channels) {
    for (std::size_t c = 0; c < channels; ++c) out[i + c] = normalised_[c][in[i + c]];
  }
}

}  // namespace moil::data
