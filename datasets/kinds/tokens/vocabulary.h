// What text, or any file, is to a network that reads symbols: numbers, one after the other.
//
// Bytes: 0 to 255, and 256 is padding, which fills a window up. Characters: 0 is any that is not in
// the list, 1 is padding, and those of the list follow, so that a list may grow. Immutable; any
// thread.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace moil::data {

class Vocabulary {
 public:
  using Symbol = std::uint32_t;

  // Of bytes.
  Vocabulary() = default;
  // Of characters, each in UTF-8; there may be none yet. kInvalidArgument for one that is none, or
  // occurs twice, and for a list of more than kMostCharacters.
  explicit Vocabulary(std::vector<std::string> characters);
  static constexpr std::size_t kMostCharacters = 65'000;

  [[nodiscard]] bool is_of_bytes() const { return is_of_bytes_; }
  [[nodiscard]] const std::vector<std::string>& characters() const { return characters_; }
  // Padding included.
  [[nodiscard]] std::uint32_t symbols() const;
  [[nodiscard]] Symbol padding() const;

  [[nodiscard]] std::vector<Symbol> symbols_of(std::span<const std::uint8_t> content) const;
  // The characters that are not in the list, each once; none of bytes.
  [[nodiscard]] std::set<std::string> strange_in(std::span<const std::uint8_t> content) const;
  // The same list and these behind it, as many as kMostCharacters leaves room for.
  [[nodiscard]] Vocabulary with(const std::vector<std::string>& more) const;
  // How many symbols_of() has, without making them.
  [[nodiscard]] std::size_t count(std::span<const std::uint8_t> content) const;
  // As text: a character for a symbol of none is U+FFFD; padding is nothing.
  [[nodiscard]] std::string text_of(std::span<const Symbol> symbols) const;
  // Of `text` the end that has at most so many symbols; more if it is not UTF-8.
  [[nodiscard]] std::string_view end_of(std::string_view text, std::size_t symbols) const;

 private:
  bool is_of_bytes_ = true;
  std::vector<std::string> characters_;
  std::unordered_map<std::string, Symbol> numbers_;
};

}  // namespace moil::data
