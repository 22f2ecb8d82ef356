#include "tests/fuzz/image_seeds.h"

#include <webp/encode.h>

#include <memory>

#include "datasets/images/codec.h"

namespace moil::test {
namespace {

data::Image pattern(int width, int height, int channels) {
  data::Image image;
  image.resize(width, height, channels);
  for (std::size_t i = 0; i < image.pixels.size(); ++i)
    image.pixels[i] = static_cast<std::uint8_t>(i * 37 + i / 11);
  return image;
}

std::string text(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

// An EXIF segment that says "turned by 90 degrees", behind the JPEG's first marker.
std::string turned(std::string jpeg) {
  using namespace std::string_literals;
  const std::string tiff = "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"s;
  const std::string content = "Exif\0\0"s + tiff;
  std::string segment = "\xff\xe1\0"s;
  segment += static_cast<char>(content.size() + 2);
  return jpeg.insert(2, segment + content);
}

std::string webp(const data::Image& image, bool lossless) {
  std::uint8_t* raw = nullptr;
  const int stride = static_cast<int>(image.row_bytes());
  const std::size_t size =
      lossless
          ? WebPEncodeLosslessRGBA(image.pixels.data(), image.width, image.height, stride, &raw)
          : WebPEncodeRGBA(image.pixels.data(), image.width, image.height, stride, 60, &raw);
  const std::unique_ptr<std::uint8_t, decltype(&WebPFree)> owner(raw, WebPFree);
  return {reinterpret_cast<const char*>(raw), size};
}

}  // namespace

std::map<std::string, std::string> image_seeds() {
  const std::string jpeg = text(data::encode_jpeg(pattern(24, 16, 3), 60));
  return {{"grey.png", text(data::encode_png(pattern(9, 7, 1)))},
          {"colour.png", text(data::encode_png(pattern(8, 8, 3)))},
          {"alpha.png", text(data::encode_png(pattern(5, 6, 4)))},
          {"grey.jpg", text(data::encode_jpeg(pattern(16, 16, 1), 60))},
          {"colour.jpg", jpeg},
          {"turned.jpg", turned(jpeg)},
          {"lossless.webp", webp(pattern(8, 8, 4), true)},
          {"lossy.webp", webp(pattern(16, 16, 4), false)}};
}

}  // namespace moil::test
