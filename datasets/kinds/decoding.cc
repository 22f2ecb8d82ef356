#include "datasets/kinds/decoding.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/error.h"
#include "datasets/images/codec.h"
#include "datasets/kinds/several/several_kind.h"
#include "datasets/labels/media_type.h"
#include "datasets/sounds/sound_file.h"
#include "datasets/tables/numbers.h"

namespace moil::data {
namespace {

// A large JPEG at a part of its sides: its codes are read all the same.
void check_image(std::span<const std::uint8_t> bytes, std::string_view name) {
  constexpr DecodeLimits kSmall{.max_pixels = 1 << 19};
  try {
    (void)decode_image(bytes, name, kSmall);
  } catch (const Error&) {
    (void)decode_image(bytes, name);
  }
}

void check_sound(std::span<const std::uint8_t> bytes, std::string_view name) {
  constexpr std::int64_t kMostSeconds = 600;
  SoundFile sound(bytes, name);
  std::array<float, 8192> some;
  std::int64_t left = kMostSeconds * sound.rate();
  while (left > 0 && sound.read(some) == some.size()) left -= std::ssize(some);
}

bool is_a_record(std::span<const std::uint8_t> bytes) {
  constexpr std::ptrdiff_t kHeadAndRecord = 2;
  const std::ptrdiff_t ends = std::ranges::count(bytes, '\n');
  return ends + (bytes.back() == '\n' ? 0 : 1) <= kHeadAndRecord;
}

// A record may hold text: what its columns are, the model says.
void check_numbers(std::span<const std::uint8_t> bytes, std::string_view name) {
  try {
    (void)read_numbers(bytes, name);
  } catch (const Error&) {
    if (media_type_of(bytes) != kCsv || !is_a_record(bytes)) throw;
  }
}

void check_archive(std::span<const std::uint8_t> bytes, std::string_view name) {
  bool holds_samples = false;
  each_file_in_archive(bytes, name, [&](const std::string& path, const auto& content) {
    const std::string_view type = media_type_of(content);
    if (!is_taken(type) || type == kTar) return;
    holds_samples = true;
    check_decodes(content, std::string(name) + ": " + path);
  });
  if (!holds_samples)
    throw Error(ErrorCode::kBadData,
                std::string(name) + ": it holds no photo, sound or file of numbers");
}

}  // namespace

void check_decodes(std::span<const std::uint8_t> bytes, std::string_view name) {
  const std::string_view type = media_type_of(bytes);
  if (is_image(type)) return check_image(bytes, name);
  if (is_sound(type)) return check_sound(bytes, name);
  if (is_numbers(type)) return check_numbers(bytes, name);
  if (type == kTar) return check_archive(bytes, name);
  if (type == kText) return;
  throw Error(ErrorCode::kBadData, std::string(name) + ": " + media_refusal(type));
}

}  // namespace moil::data
