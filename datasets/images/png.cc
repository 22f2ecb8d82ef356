#include <png.h>
#include <zlib.h>

#include <csetjmp>
#include <cstring>
#include <string>

#include "base/error.h"
#include "datasets/images/canvas.h"
#include "datasets/images/codec.h"
#include "datasets/images/orientation.h"

namespace moil::data {
namespace {

constexpr png_alloc_size_t kMaxChunkBytes = 8 << 20;

struct PngSource {
  std::span<const std::uint8_t> rest;
  std::string error;
};

// libpng reports by longjmp. The functions that call setjmp own nothing that has a destructor, and
// the message is kept in the caller's PngSource.
void on_error(png_structp png, png_const_charp message) {
  static_cast<PngSource*>(png_get_error_ptr(png))->error = message;
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep target, std::size_t count) {
  auto& source = *static_cast<PngSource*>(png_get_io_ptr(png));
  if (count > source.rest.size()) png_error(png, "the file is truncated");
  std::memcpy(target, source.rest.data(), count);
  source.rest = source.rest.subspan(count);
}

class PngReader {
 public:
  explicit PngReader(PngSource& source)
      : png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, on_error, on_warning)),
        info_(png_ ? png_create_info_struct(png_) : nullptr) {
    if (!info_) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw Error(ErrorCode::kResourceExhausted, "libpng: out of memory");
    }
    png_set_read_fn(png_, &source, on_read);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // ours hold for the product
    png_set_chunk_malloc_max(png_, kMaxChunkBytes);
    // Texts, colour profiles and the like: not read, so that they take no memory.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  bool read_header() {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_read_info(png_, info_);
    return true;
  }

  // After read_header: asks for 8 bits of grey or RGB, with alpha or without.
  bool set_format() {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_set_expand(png_);
    png_set_scale_16(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  // One after another; of an image that is not interlaced.
  bool read_row(png_bytep row) {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_read_row(png_, row, nullptr);
    return true;
  }
  bool read_pixels(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_read_image(png_, rows);
    return true;
  }
  bool read_end() {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_read_end(png_, nullptr);
    return true;
  }

  bool is_interlaced() const { return png_get_interlace_type(png_, info_) != PNG_INTERLACE_NONE; }
  std::uint32_t width() const { return png_get_image_width(png_, info_); }
  std::uint32_t height() const { return png_get_image_height(png_, info_); }
  int channels() const { return png_get_channels(png_, info_); }

 private:
  png_structp png_;
  png_infop info_;
};

std::vector<png_bytep> rows_of(Image& image) {
  std::vector<png_bytep> rows(static_cast<std::size_t>(image.height));
  for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = &image.pixels[y * image.row_bytes()];
  return rows;
}

std::uint32_t big_endian(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | bytes[at + i];
  return value;
}

// By the chunk eXIf, which may stand behind the pixels: a size, a name, the content, its checksum.
int png_orientation(std::span<const std::uint8_t> png) {
  constexpr std::size_t kSignature = 8, kHeader = 8, kChecksum = 4;
  for (std::size_t at = kSignature; at + kHeader + kChecksum <= png.size();) {
    const std::size_t size = big_endian(png, at);
    if (size > png.size() - at - kHeader - kChecksum) return 1;
    const bool is_exif = std::memcmp(&png[at + 4], "eXIf", 4) == 0;
    const std::size_t end = at + kHeader + size;
    if (is_exif && crc32(0, &png[at + 4], static_cast<uInt>(4 + size)) == big_endian(png, end))
      return exif_orientation(png.subspan(at + kHeader, size));
    at = end + kChecksum;
  }
  return 1;
}

png_uint_32 format_of(const Image& image) {
  if (image.channels == 1) return PNG_FORMAT_GRAY;
  if (image.channels == 3) return PNG_FORMAT_RGB;
  if (image.channels == 4) return PNG_FORMAT_RGBA;
  throw Error(ErrorCode::kInvalidArgument,
              "a PNG has 1, 3 or 4 channels, the image has " + std::to_string(image.channels));
}

}  // namespace

void decode_png(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
                const DecodeLimits& limits) {
  PngSource source{encoded, {}};
  PngReader reader(source);
  if (!reader.read_header()) bad_image(name, source.error);
  check_dimensions(name, reader.width(), reader.height(), limits);
  if (!reader.set_format()) bad_image(name, source.error);
  const int width = static_cast<int>(reader.width()), height = static_cast<int>(reader.height());
  Image stored;  // if rows come in several passes, all of them; else one
  stored.resize(width, reader.is_interlaced() ? height : 1, reader.channels());
  if (reader.is_interlaced() && !reader.read_pixels(rows_of(stored).data()))
    bad_image(name, source.error);
  Canvas canvas(image, width, height, stored.channels, png_orientation(encoded));
  for (int y = 0; y < height; ++y) {
    std::uint8_t* row = stored.pixels.data();
    if (reader.is_interlaced()) row += static_cast<std::size_t>(y) * stored.row_bytes();
    if (!reader.is_interlaced() && !reader.read_row(row)) bad_image(name, source.error);
    canvas.put(y, row);
  }
  if (!reader.read_end()) bad_image(name, source.error);
}

// libpng holds two rows of up to 8 bytes a pixel and what zlib needs.
ImageHeader read_png_header(std::span<const std::uint8_t> encoded, std::string_view name,
                            const DecodeLimits& limits) {
  constexpr std::size_t kTables = 256 << 10, kRows = 32;
  PngSource source{encoded, {}};
  PngReader reader(source);
  if (!reader.read_header()) bad_image(name, source.error);
  check_dimensions(name, reader.width(), reader.height(), limits);
  if (!reader.set_format()) bad_image(name, source.error);
  ImageHeader header{static_cast<int>(reader.width()), static_cast<int>(reader.height()),
                     Canvas::channels_of(reader.channels()), kTables};
  const std::size_t width = reader.width(), pixels = width * reader.height();
  header.decoding_bytes += kRows * width + pixels * static_cast<std::size_t>(header.channels);
  if (reader.is_interlaced()) {
    header.decoding_bytes +=
        pixels * static_cast<std::size_t>(reader.channels()) + reader.height() * sizeof(png_bytep);
  }
  return header;
}

std::vector<std::uint8_t> encode_png(const Image& image) {
  if (image.width <= 0 || image.height <= 0 || image.pixels.size() != image.size()) {
    throw Error(ErrorCode::kInvalidArgument, "the image's pixels do not fit its size");
  }
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = format_of(image);
  std::vector<std::uint8_t> out(PNG_IMAGE_PNG_SIZE_MAX(header));
  png_alloc_size_t size = out.size();
  if (!png_image_write_to_memory(&header, out.data(), &size, 0, image.pixels.data(), 0, nullptr)) {
    throw Error(ErrorCode::kInternal, std::string("libpng: ") + header.message);
  }
  out.resize(size);
  return out;
}

}  // namespace moil::data
