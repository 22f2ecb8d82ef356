#include "datasets/labels/text.h"

#include <utf8proc.h>

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace moil::data {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// The first character of the text and its length in bytes; -1 and 1 if it is not UTF-8.
struct Character {
  std::int32_t code = -1;
  std::size_t bytes = 1;
};

Character first_of(std::string_view text) {
  utf8proc_int32_t code = -1;
  const auto n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                  static_cast<utf8proc_ssize_t>(text.size()), &code);
  return n <= 0 ? Character{} : Character{code, static_cast<std::size_t>(n)};
}

bool turns_direction(std::int32_t code) {
  constexpr std::int32_t kArabicLetterMark = 0x061c, kLeftToRightMark = 0x200e,
                         kRightToLeftMark = 0x200f;
  if (code == kArabicLetterMark || code == kLeftToRightMark || code == kRightToLeftMark)
    return true;
  switch (utf8proc_get_property(code)->bidi_class) {
    case UTF8PROC_BIDI_CLASS_LRE:
    case UTF8PROC_BIDI_CLASS_LRO:
    case UTF8PROC_BIDI_CLASS_RLE:
    case UTF8PROC_BIDI_CLASS_RLO:
    case UTF8PROC_BIDI_CLASS_PDF:
    case UTF8PROC_BIDI_CLASS_LRI:
    case UTF8PROC_BIDI_CLASS_RLI:
    case UTF8PROC_BIDI_CLASS_FSI:
    case UTF8PROC_BIDI_CLASS_PDI:
      return true;
    default:
      return false;
  }
}

std::string_view wrong_with(std::int32_t code) {
  if (code < 0) return "is not valid UTF-8";
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return "holds a control character";
    default:
      break;
  }
  return turns_direction(code) ? "holds a character that turns the direction of text" : "";
}

bool is_space(std::int32_t code) {
  return code >= 0 && utf8proc_category(code) == UTF8PROC_CATEGORY_ZS;
}

// Text that is not UTF-8 comes back as it is.
std::string mapped(std::string_view text, utf8proc_option_t how) {
  if (text.empty()) return {};
  utf8proc_uint8_t* raw = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &raw, how);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(raw, &std::free);
  if (size < 0) return std::string(text);
  return {reinterpret_cast<const char*>(raw), static_cast<std::size_t>(size)};
}

// The start of the text's last character.
std::size_t last_start(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) --at;
  return at;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Character c = first_of(text);
    if (c.code < 0) return false;
    text.remove_prefix(c.bytes);
  }
  return true;
}

std::string normal(std::string_view text) {
  return mapped(text, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
}

std::string without_case(std::string_view text) {
  return mapped(
      text, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD));
}

std::string_view unfit_characters(std::string_view name) {
  while (!name.empty()) {
    const Character c = first_of(name);
    if (const auto wrong = wrong_with(c.code); !wrong.empty()) return wrong;
    name.remove_prefix(c.bytes);
  }
  return {};
}

std::string shown(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_of(text);
    out += wrong_with(c.code).empty() ? text.substr(0, c.bytes) : kReplacement;
    text.remove_prefix(c.bytes);
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(first_of(text).code)) text.remove_prefix(first_of(text).bytes);
  while (!text.empty() && is_space(first_of(text.substr(last_start(text))).code))
    text = text.substr(0, last_start(text));
  return text;
}

}  // namespace moil::data
