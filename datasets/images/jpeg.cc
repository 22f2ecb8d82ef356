// libjpeg's headers need these before them, in this order.
// clang-format off
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "datasets/images/canvas.h"
#include "datasets/images/codec.h"
#include "datasets/images/jpeg_scan.h"
#include "datasets/images/orientation.h"

namespace moil::data {
namespace {

constexpr int kMostScans = 500;  // each costs the time of a decoding
// Bytes that are left when all pixels are there: some cameras fill up their files.
constexpr int kMostFilling = 16;

// libjpeg reports by longjmp. The functions that call setjmp own nothing that has a destructor.
struct Errors {
  jpeg_error_mgr manager;  // the first member: libjpeg hands back its address
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
  bool header_is_read;
};

Errors& errors_of(j_common_ptr jpeg) { return *reinterpret_cast<Errors*>(jpeg->err); }

[[noreturn]] void on_error(j_common_ptr jpeg) {
  Errors& errors = errors_of(jpeg);
  errors.manager.format_message(jpeg, errors.message);
  std::longjmp(errors.jump, 1);
}

// Bytes that stand where a marker should, in or behind the coded pixels: the decoder and the
// encoder do not agree about what the pixels are, unless they merely fill up the file.
bool are_lost_pixels(const jpeg_decompress_struct& jpeg) {
  const auto* parameters = jpeg.err->msg_parm.i;
  const int count = parameters[0], marker = parameters[1];
  if (marker >= JPEG_RST0 && marker <= JPEG_RST0 + 7) return true;
  if (count <= kMostFilling) return false;
  const std::uint8_t* end = jpeg.src->next_input_byte - 2;
  return std::any_of(end - count, end, [&](std::uint8_t byte) { return byte != end[-1]; });
}

// By its code: a message's text is of one release, and an early one would hide later ones.
bool is_damage(j_common_ptr jpeg) {
  switch (jpeg->err->msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_BOGUS_ICC:
    case JWRN_JFIF_MAJOR:
    case JWRN_NOT_SEQUENTIAL:
      return false;
    case JWRN_EXTRANEOUS_DATA:
      return errors_of(jpeg).header_is_read &&
             are_lost_pixels(*reinterpret_cast<jpeg_decompress_struct*>(jpeg));
    default:
      return true;
  }
}

// libjpeg fills what is missing with grey and only warns. Levels from 0 on are for the curious.
void on_message(j_common_ptr jpeg, int level) {
  if (level < 0 && is_damage(jpeg)) on_error(jpeg);
}

void on_progress(j_common_ptr jpeg) {
  if (reinterpret_cast<jpeg_decompress_struct*>(jpeg)->input_scan_number <= kMostScans) return;
  Errors& errors = errors_of(jpeg);
  std::snprintf(errors.message, sizeof errors.message, "it has more than %d scans", kMostScans);
  std::longjmp(errors.jump, 1);
}

std::uint64_t scaled(std::uint32_t side, unsigned parts) { return (side + parts - 1) / parts; }

class Decoder {
 public:
  explicit Decoder(std::span<const std::uint8_t> encoded) {
    jpeg_.err = jpeg_std_error(&errors_.manager);
    errors_.manager.error_exit = on_error;
    errors_.manager.emit_message = on_message;
    errors_.header_is_read = false;
    progress_.progress_monitor = on_progress;
    if (setjmp(errors_.jump) != 0) return;  // no memory: read_header() says so
    jpeg_create_decompress(&jpeg_);
    jpeg_.progress = &progress_;
    jpeg_mem_src(&jpeg_, encoded.data(), encoded.size());
  }
  ~Decoder() { jpeg_destroy_decompress(&jpeg_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Each: false if it fails, and message() says why.
  bool read_header() {
    if (jpeg_.src == nullptr || setjmp(errors_.jump) != 0) return false;
    jpeg_read_header(&jpeg_, TRUE);
    errors_.header_is_read = true;
    is_cmyk_ = jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK;
    jpeg_.out_color_space = is_cmyk_                                  ? JCS_CMYK
                            : jpeg_.jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE
                                                                      : JCS_RGB;
    return true;
  }
  bool start() {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_start_decompress(&jpeg_);
    return true;
  }
  bool read_row(std::uint8_t* row) {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_read_scanlines(&jpeg_, &row, 1);
    return true;
  }
  bool finish() {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_finish_decompress(&jpeg_);
    return true;
  }
  const char* message() const { return errors_.message; }

  // After read_header: both sides at 1, 1/2, 1/4 or 1/8, the largest that the limits allow.
  void fit(const DecodeLimits& limits) {
    parts_ = 1;
    if (!keeps_coefficients()) {
      while (parts_ < 8 && width() * height() > limits.max_pixels) parts_ *= 2;
      if (width() * height() > limits.max_pixels) parts_ = 1;  // told as it is
    }
    jpeg_.scale_num = 1;
    jpeg_.scale_denom = parts_;
  }
  std::uint64_t width() const { return scaled(jpeg_.image_width, parts_); }
  std::uint64_t height() const { return scaled(jpeg_.image_height, parts_); }
  int channels() const { return jpeg_.out_color_space == JCS_GRAYSCALE ? 1 : 3; }
  bool is_cmyk() const { return is_cmyk_; }

  // Several scans tell of each pixel: the whole image is held as coefficients, at any scale.
  bool keeps_coefficients() const {
    return jpeg_has_multiple_scans(const_cast<jpeg_decompress_struct*>(&jpeg_));
  }
  // libjpeg's own memory: coefficients, or some rows of them in each component.
  std::size_t working_bytes() const {
    constexpr std::size_t kTables = 64 << 10, kRows = 48;
    std::size_t bytes = kTables + kRows * jpeg_.image_width * jpeg_.num_components;
    if (!keeps_coefficients()) return bytes;
    const auto most = [&](int jpeg_component_info::*factor) {
      int found = 1;
      for (int i = 0; i < jpeg_.num_components; ++i)
        found = std::max(found, jpeg_.comp_info[i].*factor);
      return found;
    };
    const auto blocks = [](std::size_t pixels, int factor, int of) {
      const std::size_t mcus =
          (pixels + 8U * static_cast<unsigned>(of) - 1) / (8U * static_cast<unsigned>(of));
      return mcus * static_cast<std::size_t>(factor);
    };
    const int across = most(&jpeg_component_info::h_samp_factor);
    const int down = most(&jpeg_component_info::v_samp_factor);
    for (int i = 0; i < jpeg_.num_components; ++i) {
      bytes += sizeof(JBLOCK) *
               blocks(jpeg_.image_width, jpeg_.comp_info[i].h_samp_factor, across) *
               blocks(jpeg_.image_height, jpeg_.comp_info[i].v_samp_factor, down);
    }
    return bytes;
  }

 private:
  jpeg_decompress_struct jpeg_{};
  Errors errors_{};
  jpeg_progress_mgr progress_{};
  bool is_cmyk_ = false;
  unsigned parts_ = 1;
};

// As Adobe's JPEGs store it, inverted: 255 is no ink. In place.
void cmyk_to_rgb(std::vector<std::uint8_t>& row) {
  for (std::size_t p = 0; p < row.size() / 4; ++p) {
    const unsigned key = row[4 * p + 3];
    for (std::size_t c = 0; c < 3; ++c)
      row[3 * p + c] = static_cast<std::uint8_t>((row[4 * p + c] * key + 127) / 255);
  }
}

void open(Decoder& decoder, std::string_view name, const DecodeLimits& limits) {
  if (!decoder.read_header()) bad_image(name, decoder.message());
  decoder.fit(limits);
  check_dimensions(name, decoder.width(), decoder.height(), limits);
}

class Encoder {
 public:
  Encoder() {
    jpeg_.err = jpeg_std_error(&errors_.manager);
    errors_.manager.error_exit = on_error;
  }
  ~Encoder() {
    jpeg_destroy_compress(&jpeg_);
    std::free(bytes_);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  bool run(const Image& image, int quality) {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_compress(&jpeg_);
    jpeg_mem_dest(&jpeg_, &bytes_, &size_);
    jpeg_.image_width = static_cast<JDIMENSION>(image.width);
    jpeg_.image_height = static_cast<JDIMENSION>(image.height);
    jpeg_.input_components = image.channels;
    jpeg_.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg_);
    jpeg_set_quality(&jpeg_, quality, TRUE);
    jpeg_start_compress(&jpeg_, TRUE);
    while (jpeg_.next_scanline < jpeg_.image_height) {
      auto* row = const_cast<std::uint8_t*>(&image.pixels[jpeg_.next_scanline * image.row_bytes()]);
      jpeg_write_scanlines(&jpeg_, &row, 1);
    }
    jpeg_finish_compress(&jpeg_);
    return true;
  }
  const char* message() const { return errors_.message; }
  std::vector<std::uint8_t> bytes() const { return {bytes_, bytes_ + size_}; }

 private:
  jpeg_compress_struct jpeg_{};
  Errors errors_{};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

void decode_jpeg(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
                 const DecodeLimits& limits) {
  if (has_zeroed_scan(encoded)) bad_image(name, "part of its pixels was overwritten with zeros");
  Decoder decoder(encoded);
  open(decoder, name, limits);
  if (!decoder.start()) bad_image(name, decoder.message());
  const int width = static_cast<int>(decoder.width()), height = static_cast<int>(decoder.height());
  Canvas canvas(image, width, height, decoder.channels(), exif_orientation(encoded));
  const std::size_t stored = decoder.is_cmyk() ? 4 : static_cast<std::size_t>(decoder.channels());
  std::vector<std::uint8_t> row(stored * static_cast<std::size_t>(width));
  for (int y = 0; y < height; ++y) {
    if (!decoder.read_row(row.data())) bad_image(name, decoder.message());
    if (decoder.is_cmyk()) cmyk_to_rgb(row);
    canvas.put(y, row.data());
  }
  if (!decoder.finish()) bad_image(name, decoder.message());
}

ImageHeader read_jpeg_header(std::span<const std::uint8_t> encoded, std::string_view name,
                             const DecodeLimits& limits) {
  Decoder decoder(encoded);
  open(decoder, name, limits);
  ImageHeader header{static_cast<int>(decoder.width()), static_cast<int>(decoder.height()),
                     decoder.channels(), decoder.working_bytes()};
  const auto row = static_cast<std::size_t>(header.width);
  header.decoding_bytes +=
      row * static_cast<std::size_t>(header.height * header.channels) + 4 * row;
  return header;
}

std::vector<std::uint8_t> encode_jpeg(const Image& image, int quality) {
  if (image.channels != 1 && image.channels != 3) {
    throw Error(ErrorCode::kInvalidArgument,
                "a JPEG has 1 or 3 channels, the image has " + std::to_string(image.channels));
  }
  Encoder encoder;
  if (!encoder.run(image, quality)) throw Error(ErrorCode::kInvalidArgument, encoder.message());
  return encoder.bytes();
}

}  // namespace moil::data
