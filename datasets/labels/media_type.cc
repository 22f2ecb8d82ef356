#include "datasets/labels/media_type.h"

namespace moil::data {

std::string_view media_type_of(std::span<const std::uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("\xff\xd8\xff")) return kJpeg;
  if (text.starts_with("\x89PNG\r\n\x1a\n")) return kPng;
  if (text.starts_with("RIFF") && text.size() >= 12) {
    if (text.substr(8, 4) == "WAVE") return kWav;
    if (text.substr(8, 4) == "WEBP") return kWebp;
  }
  if (text.starts_with("OggS")) return kOgg;
  return kUnknownMedia;
}

}  // namespace moil::data
