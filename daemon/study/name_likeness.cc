#include "daemon/study/name_likeness.h"

#include <algorithm>
#include <set>
#include <string>

namespace moil::night {
namespace {

// Bytes beyond ASCII belong to words as they are.
bool is_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::set<std::string> words_of(std::string_view name) {
  std::set<std::string> words;
  std::string word;
  const auto end = [&] {
    if (word.size() > 3 && word.back() == 's') word.pop_back();
    if (!word.empty()) words.insert(word);
    word.clear();
  };
  for (const char c : name) {
    if (!is_letter(c))
      end();
    else
      word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  end();
  return words;
}

}  // namespace

double name_likeness(std::string_view a, std::string_view b) {
  const auto one = words_of(a), other = words_of(b);
  const auto shared = std::ranges::count_if(one, [&](const auto& w) { return other.contains(w); });
  const std::size_t all = one.size() + other.size() - static_cast<std::size_t>(shared);
  return all == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(all);
}

}  // namespace moil::night
