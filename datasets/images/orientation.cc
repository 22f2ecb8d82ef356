#include "datasets/images/orientation.h"

#include <libexif/exif-data.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

namespace moil::data {
namespace {

struct Unref {
  void operator()(ExifData* data) const { exif_data_unref(data); }
};

// EXIF stands among the first segments; what follows them is not searched.
constexpr std::size_t kMostSearched = 256 << 10;

int orientation_of(std::span<const std::uint8_t> bytes) {
  const std::unique_ptr<ExifData, Unref> data(exif_data_new());
  if (!data) return 1;
  exif_data_load_data(data.get(), bytes.data(), static_cast<unsigned>(bytes.size()));
  const ExifEntry* entry = exif_content_get_entry(data->ifd[EXIF_IFD_0], EXIF_TAG_ORIENTATION);
  if (entry == nullptr || entry->format != EXIF_FORMAT_SHORT || entry->components != 1) return 1;
  const int orientation = exif_get_short(entry->data, exif_data_get_byte_order(data.get()));
  return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

}  // namespace

int exif_orientation(std::span<const std::uint8_t> jpeg_or_exif) {
  const auto bytes = jpeg_or_exif.first(std::min(jpeg_or_exif.size(), kMostSearched));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with("II") && !text.starts_with("MM")) return orientation_of(bytes);
  // libexif wants the name that JPEG puts before it.
  constexpr std::string_view kName("Exif\0\0", 6);
  std::vector<std::uint8_t> named(kName.begin(), kName.end());
  named.insert(named.end(), bytes.begin(), bytes.end());
  return orientation_of(named);
}

}  // namespace moil::data
