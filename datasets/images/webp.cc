#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "datasets/images/canvas.h"
#include "datasets/images/codec.h"
#include "datasets/images/orientation.h"

namespace moil::data {
namespace {

constexpr std::size_t kRiffHeader = 12, kChunkHeader = 8;

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The content of the first chunk of this name: a name, a size, the content, filled up to even.
std::optional<std::span<const std::uint8_t>> find_chunk(std::span<const std::uint8_t> webp,
                                                        std::string_view name) {
  for (std::size_t at = kRiffHeader; at + kChunkHeader <= webp.size();) {
    std::size_t size = 0;
    for (std::size_t i = 4; i-- > 0;) size = size << 8 | webp[at + 4 + i];
    const std::size_t begin = at + kChunkHeader;
    size = std::min(size, webp.size() - begin);
    if (text_of(webp).substr(at, 4) == name) return webp.subspan(begin, size);
    at = begin + size + size % 2;
  }
  return std::nullopt;
}

[[noreturn]] void damaged(std::string_view name) {
  bad_image(name, "the WebP file is truncated or damaged");
}

WebPBitstreamFeatures features_of(std::span<const std::uint8_t> encoded, std::string_view name,
                                  const DecodeLimits& limits) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(encoded.data(), encoded.size(), &features) != VP8_STATUS_OK) damaged(name);
  check_dimensions(name, static_cast<std::uint64_t>(features.width),
                   static_cast<std::uint64_t>(features.height), limits);
  return features;
}

// The first frame of an animation, as RGBA on a canvas of its size. It may cover a part of that;
// the rest is transparent.
void decode_first_frame(std::span<const std::uint8_t> encoded, std::string_view name,
                        Image& canvas) {
  const WebPData data{encoded.data(), encoded.size()};
  const std::unique_ptr<WebPDemuxer, decltype(&WebPDemuxDelete)> file(WebPDemux(&data),
                                                                      &WebPDemuxDelete);
  WebPIterator frame{};
  if (!file || WebPDemuxGetFrame(file.get(), 1, &frame) == 0) damaged(name);
  const std::unique_ptr<WebPIterator, decltype(&WebPDemuxReleaseIterator)> owner(
      &frame, &WebPDemuxReleaseIterator);
  if (frame.x_offset + frame.width > canvas.width || frame.y_offset + frame.height > canvas.height)
    damaged(name);
  std::ranges::fill(canvas.pixels, std::uint8_t{0});
  const std::size_t begin = static_cast<std::size_t>(frame.y_offset) * canvas.row_bytes() +
                            4 * static_cast<std::size_t>(frame.x_offset);
  if (WebPDecodeRGBAInto(frame.fragment.bytes, frame.fragment.size, &canvas.pixels[begin],
                         canvas.pixels.size() - begin,
                         static_cast<int>(canvas.row_bytes())) == nullptr)
    damaged(name);
}

}  // namespace

void decode_webp(std::span<const std::uint8_t> encoded, std::string_view name, Image& image,
                 const DecodeLimits& limits) {
  const WebPBitstreamFeatures features = features_of(encoded, name, limits);
  const auto exif = find_chunk(encoded, "EXIF");
  const int orientation = exif ? exif_orientation(*exif) : 1;
  const bool has_alpha = features.has_alpha || features.has_animation;
  const bool as_stored = orientation == 1 && !has_alpha;
  Image stored;
  Image& target = as_stored ? image : stored;
  target.resize(features.width, features.height, has_alpha ? 4 : 3);
  const auto decode = has_alpha ? WebPDecodeRGBAInto : WebPDecodeRGBInto;
  if (features.has_animation)
    decode_first_frame(encoded, name, target);
  else if (decode(encoded.data(), encoded.size(), target.pixels.data(), target.pixels.size(),
                  static_cast<int>(target.row_bytes())) == nullptr)
    damaged(name);
  if (as_stored) return;
  Canvas canvas(image, stored.width, stored.height, stored.channels, orientation);
  for (int y = 0; y < stored.height; ++y)
    canvas.put(y, &stored.pixels[static_cast<std::size_t>(y) * stored.row_bytes()]);
}

// libwebp holds a lossless image, and a transparent one's alpha, as 4 bytes a pixel beside what it
// writes. The header of an animation does not say what its first frame is.
ImageHeader read_webp_header(std::span<const std::uint8_t> encoded, std::string_view name,
                             const DecodeLimits& limits) {
  constexpr int kLossless = 2;
  constexpr std::size_t kTables = 8 << 20, kRows = 160;
  constexpr std::uint8_t kHasExif = 8;  // of the first byte of VP8X
  const WebPBitstreamFeatures features = features_of(encoded, name, limits);
  const auto extended = find_chunk(encoded, "VP8X");
  const bool may_turn = extended && !extended->empty() && ((*extended)[0] & kHasExif) != 0;
  const auto width = static_cast<std::size_t>(features.width);
  const std::size_t pixels = width * static_cast<std::size_t>(features.height);
  std::size_t bytes = kTables + kRows * width + 3 * pixels;
  const bool has_alpha = features.has_alpha || features.has_animation;
  if (features.format == kLossless || has_alpha) bytes += 4 * pixels;
  if (has_alpha) bytes += (features.format == kLossless ? 4 : 5) * pixels;
  if (may_turn && !has_alpha) bytes += 3 * pixels;
  return {features.width, features.height, 3, bytes};
}

}  // namespace moil::data
