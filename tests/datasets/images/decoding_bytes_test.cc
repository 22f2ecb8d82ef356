// What a photo's header says that decoding takes is at least what it takes, whatever its format.
// libjpeg's header needs these before it.
// clang-format off
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
// clang-format on
#include <cstdlib>
#include <functional>

#include "base/process_memory.h"
#include "datasets/images/codec.h"
#include "tests/datasets/animation.h"
#include "tests/datasets/exif.h"
#include "tests/datasets/images/memory_growth.h"
#include "tests/datasets/png.h"
#include "tests/datasets/support.h"
#include "tests/datasets/synthetic.h"
#include "tests/datasets/webp.h"
#include "tests/plain_build.h"

namespace moil::data {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr int kWidth = 1200, kHeight = 800;

// Rows that compress well, with alpha if there are 2 or 4 channels.
Image picture(int channels) {
  Image image;
  image.resize(kWidth, kHeight, channels);
  for (std::size_t y = 0; y < kHeight; ++y)
    std::fill_n(&image.pixels[y * image.row_bytes()], image.row_bytes(),
                static_cast<std::uint8_t>(y));
  return image;
}

// In several scans, as photos on the web are.
Bytes progressive_jpeg(const Image& image, bool full_colour) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* raw = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &raw, &size);
  jpeg.image_width = static_cast<JDIMENSION>(image.width);
  jpeg.image_height = static_cast<JDIMENSION>(image.height);
  jpeg.input_components = image.channels;
  jpeg.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  if (full_colour) jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = 1;
  jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row = const_cast<std::uint8_t*>(&image.pixels[jpeg.next_scanline * image.row_bytes()]);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  Bytes bytes(raw, raw + size);
  jpeg_destroy_compress(&jpeg);
  std::free(raw);
  return bytes;
}

Bytes interlaced_png(const Image& image) {
  return test::png_of(
      {image.width, image.height, 8, PNG_COLOR_TYPE_RGBA, image.pixels, {}, {}, true});
}

void expect_foretold(const Bytes& encoded, const std::string& name) {
  const std::size_t foretold = read_image_header(encoded, name).decoding_bytes;
  Image image = decode_image(encoded, name);  // so that the libraries' own pages are there
  image = {};
  const std::size_t taken = growth([&] { decode_image(encoded, name, image); });
  EXPECT_GT(image.size(), 0U);
  EXPECT_LE(taken, foretold + kMiB / 4) << name << ": pages are counted whole";
  EXPECT_LE(foretold, 4 * image.size() + 9 * kMiB) << name << ": not absurdly much";
  // The first bytes of the file say the same.
  const auto head = std::span(encoded).first(std::min<std::size_t>(encoded.size(), 4096));
  EXPECT_EQ(read_image_header(head, name).decoding_bytes, foretold) << name;
}

TEST(DecodingBytes, AreForetoldByTheHeader) {
  MOIL_NEEDS_TRUE_MEMORY();
  return_freed_memory();
  const std::string turned = test::exif_of(6, false);
  for (const int channels : {1, 3}) {
    const Image image = picture(channels);
    const std::string what = std::to_string(channels);
    expect_foretold(encode_png(image), "png " + what);
    expect_foretold(test::png_with_exif(encode_png(image), turned, false), "turned png " + what);
    const Bytes jpeg = encode_jpeg(image, 80);
    expect_foretold(jpeg, "jpeg " + what);
    expect_foretold(test::jpeg_with_exif(jpeg, turned), "turned jpeg " + what);
    expect_foretold(progressive_jpeg(image, false), "progressive jpeg " + what);
    expect_foretold(progressive_jpeg(image, true), "progressive jpeg in full colour " + what);
  }
  expect_foretold(encode_png(picture(4)), "png with alpha");
  expect_foretold(interlaced_png(picture(4)), "interlaced png with alpha");
  for (const int channels : {3, 4}) {
    for (const bool lossless : {true, false}) {
      const Bytes webp = test::encode_webp(picture(channels), lossless);
      const std::string what = std::to_string(channels) + (lossless ? " lossless" : " lossy");
      expect_foretold(webp, "webp " + what);
      if (channels == 3)
        expect_foretold(
            test::animated_webp(kWidth, kHeight,
                                {{webp, 0, 0, kWidth, kHeight}, {webp, 0, 0, kWidth, kHeight}}),
            "animated webp " + what);
      if (webp[15] == 'X') continue;
      expect_foretold(test::webp_with_exif(webp, kWidth, kHeight, channels == 4, turned),
                      "turned webp " + what);
    }
  }
}

TEST(DecodingBytes, OfWhatIsNoImageAreNotTold) {
  for (const char* text : {"", "GIF89a...", "\xff\xd8\xff\xe0", "\x89PNG\r\n\x1a\n"}) {
    test::expect_error(ErrorCode::kBadData, {"x"},
                       [&] { (void)read_image_header(test::bytes_of(text), "x"); });
  }
}

}  // namespace
}  // namespace moil::data
