#include "datasets/kinds/tokens/vocabulary.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/error.h"

namespace moil::data {
namespace {

constexpr std::string_view kNoCharacter = "\xef\xbf\xbd";
constexpr std::uint32_t kBytes = 256;

std::string_view text_in(std::span<const std::uint8_t> content) {
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

// A byte that begins none is a character of its own.
std::size_t length_of_first(std::string_view text) {
  utf8proc_int32_t code = -1;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code);
  return length > 0 ? static_cast<std::size_t>(length) : 1;
}

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

void require_vocabulary(bool good, const std::string& what) {
  if (!good) throw Error(ErrorCode::kInvalidArgument, "tokens: 'vocabulary' " + what);
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> characters) : characters_(std::move(characters)) {
  require_vocabulary(!characters_.empty() && characters_.size() <= kMostCharacters,
                     "has " + std::to_string(characters_.size()) + " characters, expected 1 to " +
                         std::to_string(kMostCharacters));
  for (const std::string& character : characters_) {
    require_vocabulary(!character.empty() && length_of_first(character) == character.size(),
                       "has \"" + character + "\", which is not one character");
    const auto number = static_cast<Symbol>(numbers_.size());
    require_vocabulary(numbers_.emplace(character, number).second,
                       "has \"" + character + "\" twice");
  }
}

std::uint32_t Vocabulary::symbols() const {
  if (is_of_bytes()) return kBytes + 1;
  constexpr std::uint32_t kAnyOtherAndPadding = 2;
  return static_cast<std::uint32_t>(characters_.size()) + kAnyOtherAndPadding;
}

std::vector<Vocabulary::Symbol> Vocabulary::symbols_of(
    std::span<const std::uint8_t> content) const {
  if (is_of_bytes()) return {content.begin(), content.end()};
  std::vector<Symbol> symbols;
  const auto other = static_cast<Symbol>(characters_.size());
  std::string_view rest = text_in(content);
  while (!rest.empty()) {
    const std::size_t length = length_of_first(rest);
    const auto known = numbers_.find(std::string(rest.substr(0, length)));
    symbols.push_back(known == numbers_.end() ? other : known->second);
    rest.remove_prefix(length);
  }
  return symbols;
}

std::size_t Vocabulary::count(std::span<const std::uint8_t> content) const {
  if (is_of_bytes()) return content.size();
  std::size_t count = 0;
  for (std::string_view rest = text_in(content); !rest.empty(); ++count)
    rest.remove_prefix(length_of_first(rest));
  return count;
}

std::string Vocabulary::text_of(std::span<const Symbol> symbols) const {
  std::string text;
  for (const Symbol symbol : symbols) {
    if (symbol == padding()) continue;
    if (is_of_bytes())
      text += static_cast<char>(symbol);
    else
      text += symbol < characters_.size() ? characters_[symbol] : kNoCharacter;
  }
  return text;
}

std::string_view Vocabulary::end_of(std::string_view text, std::size_t symbols) const {
  std::size_t begin = text.size();
  for (std::size_t taken = 0; begin > 0 && taken < symbols; ++taken) {
    --begin;
    while (!is_of_bytes() && begin > 0 && !begins_character(text[begin])) --begin;
  }
  return text.substr(begin);
}

}  // namespace moil::data
