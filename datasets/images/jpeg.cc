#include <turbojpeg.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "datasets/images/codec.h"

namespace moil::data {
namespace {

struct Destroy {
  void operator()(void* handle) const { tjDestroy(handle); }
};
struct Free {
  void operator()(unsigned char* buffer) const { tjFree(buffer); }
};
using Handle = std::unique_ptr<void, Destroy>;

Handle& thread_handle() {
  thread_local Handle handle;
  return handle;
}

tjhandle decompressor() {  // one a thread: making it costs as much as a small image
  Handle& handle = thread_handle();
  if (!handle) handle.reset(tjInitDecompress());
  if (!handle) throw Error(ErrorCode::kResourceExhausted, "libjpeg-turbo: out of memory");
  return handle.get();
}

// libjpeg-turbo fills what is missing with grey and only warns. Other warnings (stray bytes between
// markers, as some cameras write) leave the image whole.
bool is_damaged(std::string_view warning) {
  return warning.find("Premature end of JPEG file") != std::string_view::npos ||
         warning.find("Corrupt JPEG data: bad Huffman code") != std::string_view::npos;
}

void decompress(std::span<const std::uint8_t> encoded, std::string_view name, int format,
                std::uint8_t* pixels, int width, int height) {
  tjhandle handle = decompressor();
  const int code = tjDecompress2(handle, encoded.data(), encoded.size(), pixels, width, 0, height,
                                 format, TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS);
  if (code == 0) return;
  if (tjGetErrorCode(handle) == TJERR_FATAL || is_damaged(tjGetErrorStr2(handle)))
    bad_image(name, tjGetErrorStr2(handle));
}

// As Adobe's JPEGs store it, inverted: 255 is no ink.
void cmyk_to_rgb(const std::vector<std::uint8_t>& cmyk, Image& image) {
  for (std::size_t p = 0; p < cmyk.size() / 4; ++p) {
    const unsigned key = cmyk[4 * p + 3];
    for (std::size_t c = 0; c < 3; ++c) {
      image.pixels[3 * p + c] = static_cast<std::uint8_t>((cmyk[4 * p + c] * key + 127) / 255);
    }
  }
}

// A progressive JPEG is held whole as coefficients, whatever size it is decoded at.
bool is_progressive(std::span<const std::uint8_t> encoded) {
  for (std::size_t at = 2; at + 4 <= encoded.size() && encoded[at] == 0xff;) {
    const unsigned marker = encoded[at + 1];
    if (marker == 0xff) {
      ++at;
      continue;
    }
    const bool frame =
        marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (frame) return marker != 0xc0 && marker != 0xc1;
    at += 2U + encoded[at + 2] * 256U + encoded[at + 3];
  }
  return true;  // unheard of: taken for the worse
}

// Both sides at 1, 1/2, 1/4 or 1/8: the largest that the limits allow.
void fit(std::span<const std::uint8_t> encoded, const DecodeLimits& limits, int& width,
         int& height) {
  const auto pixels = [&](int parts) {
    const tjscalingfactor factor{1, parts};
    return static_cast<std::uint64_t>(TJSCALED(width, factor)) *
           static_cast<std::uint64_t>(TJSCALED(height, factor));
  };
  if (pixels(1) <= limits.max_pixels || is_progressive(encoded)) return;
  for (const int parts : {2, 4, 8}) {
    if (pixels(parts) > limits.max_pixels) continue;
    const tjscalingfactor factor{1, parts};
    width = TJSCALED(width, factor);
    height = TJSCALED(height, factor);
    return;
  }
}

void decode(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
            const DecodeLimits& limits) {
  int width = 0, height = 0, subsampling = 0, colours = 0;
  tjhandle handle = decompressor();
  if (tjDecompressHeader3(handle, encoded.data(), encoded.size(), &width, &height, &subsampling,
                          &colours) != 0 &&
      tjGetErrorCode(handle) == TJERR_FATAL) {
    bad_image(name, tjGetErrorStr2(handle));
  }
  fit(encoded, limits, width, height);
  check_dimensions(name, static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(height),
                   limits);
  image.resize(width, height, colours == TJCS_GRAY ? 1 : 3);
  if (colours != TJCS_CMYK && colours != TJCS_YCCK) {
    return decompress(encoded, name, image.channels == 1 ? TJPF_GRAY : TJPF_RGB,
                      image.pixels.data(), width, height);
  }
  std::vector<std::uint8_t> cmyk(image.size() / 3 * 4);
  decompress(encoded, name, TJPF_CMYK, cmyk.data(), width, height);
  cmyk_to_rgb(cmyk, image);
}

}  // namespace

void decode_jpeg(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
                 const DecodeLimits& limits) {
  try {
    decode(encoded, name, image, limits);
  } catch (...) {  // the handle would take up the next image in the middle of this one
    thread_handle().reset();
    throw;
  }
}

std::vector<std::uint8_t> encode_jpeg(const Image& image, int quality) {
  if (image.channels != 1 && image.channels != 3) {
    throw Error(ErrorCode::kInvalidArgument,
                "a JPEG has 1 or 3 channels, the image has " + std::to_string(image.channels));
  }
  const Handle handle(tjInitCompress());
  const bool grey = image.channels == 1;
  unsigned char* raw = nullptr;
  unsigned long size = 0;
  const int code = tjCompress2(handle.get(), image.pixels.data(), image.width, 0, image.height,
                               grey ? TJPF_GRAY : TJPF_RGB, &raw, &size,
                               grey ? TJSAMP_GRAY : TJSAMP_420, quality, TJFLAG_ACCURATEDCT);
  const std::unique_ptr<unsigned char, Free> buffer(raw);
  if (code != 0) throw Error(ErrorCode::kInvalidArgument, tjGetErrorStr2(handle.get()));
  return {raw, raw + size};
}

}  // namespace moil::data
