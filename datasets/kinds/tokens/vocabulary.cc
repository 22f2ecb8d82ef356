#include "datasets/kinds/tokens/vocabulary.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/error.h"

namespace moil::data {
namespace {

constexpr std::string_view kNoCharacter = "\xef\xbf\xbd";
constexpr std::uint32_t kBytes = 256;
// Numbers of characters.
constexpr Vocabulary::Symbol kAnyOther = 0, kPadding = 1, kFirst = 2;

std::string_view text_in(std::span<const std::uint8_t> content) {
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

// Empty if the text begins with a byte that begins none.
std::string_view first_character(std::string_view text) {
  utf8proc_int32_t code = -1;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code);
  return text.substr(0, length > 0 ? static_cast<std::size_t>(length) : 0);
}

// A byte that begins none is a character of its own.
std::size_t length_of_first(std::string_view text) {
  return std::max<std::size_t>(1, first_character(text).size());
}

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

void require_vocabulary(bool good, const std::string& what) {
  if (!good) throw Error(ErrorCode::kInvalidArgument, "tokens: 'vocabulary' " + what);
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> characters)
    : is_of_bytes_(false), characters_(std::move(characters)) {
  require_vocabulary(characters_.size() <= kMostCharacters,
                     "has " + std::to_string(characters_.size()) + " characters, expected " +
                         std::to_string(kMostCharacters) + " at most");
  for (const std::string& character : characters_) {
    require_vocabulary(!character.empty() && first_character(character) == character,
                       "has \"" + character + "\", which is not one character");
    const auto number = kFirst + static_cast<Symbol>(numbers_.size());
    require_vocabulary(numbers_.emplace(character, number).second,
                       "has \"" + character + "\" twice");
  }
}

std::uint32_t Vocabulary::symbols() const {
  return is_of_bytes() ? kBytes + 1 : kFirst + static_cast<std::uint32_t>(characters_.size());
}

Vocabulary::Symbol Vocabulary::padding() const { return is_of_bytes() ? kBytes : kPadding; }

std::vector<Vocabulary::Symbol> Vocabulary::symbols_of(
    std::span<const std::uint8_t> content) const {
  if (is_of_bytes()) return {content.begin(), content.end()};
  std::vector<Symbol> symbols;
  std::string_view rest = text_in(content);
  while (!rest.empty()) {
    const std::size_t length = length_of_first(rest);
    const auto known = numbers_.find(std::string(rest.substr(0, length)));
    symbols.push_back(known == numbers_.end() ? kAnyOther : known->second);
    rest.remove_prefix(length);
  }
  return symbols;
}

std::set<std::string> Vocabulary::strange_in(std::span<const std::uint8_t> content) const {
  std::set<std::string> strange;
  if (is_of_bytes()) return strange;
  for (std::string_view rest = text_in(content); !rest.empty();) {
    const std::string_view first = first_character(rest);
    rest.remove_prefix(std::max<std::size_t>(1, first.size()));
    std::string character(first);
    if (!character.empty() && !numbers_.contains(character)) strange.insert(std::move(character));
  }
  return strange;
}

Vocabulary Vocabulary::with(const std::vector<std::string>& more) const {
  std::vector<std::string> all = characters_;
  const std::size_t room = kMostCharacters - all.size();
  all.insert(all.end(), more.begin(),
             more.begin() + static_cast<std::ptrdiff_t>(std::min(room, more.size())));
  return Vocabulary(std::move(all));
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
    else if (symbol < kFirst || symbol >= this->symbols())
      text += kNoCharacter;
    else
      text += characters_[symbol - kFirst];
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
