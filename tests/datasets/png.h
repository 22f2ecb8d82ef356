// PNG files made by the tests.
#pragma once

#include <png.h>

#include <cstdint>
#include <vector>

namespace moil::data::test {

struct RawPng {
  int width, height, depth, type;
  std::vector<std::uint8_t> rows;  // packed as PNG has them
  std::vector<std::uint8_t> palette, transparency;
  bool interlaced = false;
};

// By libpng's own hand, since our encoder writes 8 bits of grey, RGB and RGBA alone.
inline std::vector<std::uint8_t> png_of(const RawPng& raw) {
  std::vector<std::uint8_t> bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &bytes,
      [](png_structp p, png_bytep data, png_size_t size) {
        auto& all = *static_cast<std::vector<std::uint8_t>*>(png_get_io_ptr(p));
        all.insert(all.end(), data, data + size);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(raw.width), static_cast<png_uint_32>(raw.height),
               raw.depth, raw.type, raw.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!raw.palette.empty()) {
    png_set_PLTE(png, info, reinterpret_cast<png_const_colorp>(raw.palette.data()),
                 static_cast<int>(raw.palette.size() / 3));
  }
  png_color_16 key{};
  if (!raw.transparency.empty() && raw.type == PNG_COLOR_TYPE_PALETTE) {
    png_set_tRNS(png, info, raw.transparency.data(), static_cast<int>(raw.transparency.size()),
                 nullptr);
  } else if (!raw.transparency.empty()) {
    key.gray = raw.transparency[0];
    png_set_tRNS(png, info, nullptr, 0, &key);
  }
  png_write_info(png, info);
  const std::size_t row_bytes = png_get_rowbytes(png, info);
  std::vector<png_bytep> rows;
  for (int y = 0; y < raw.height; ++y)
    rows.push_back(const_cast<png_bytep>(&raw.rows[static_cast<std::size_t>(y) * row_bytes]));
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

}  // namespace moil::data::test
