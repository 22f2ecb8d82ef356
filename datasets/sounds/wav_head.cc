#include "datasets/sounds/wav_head.h"

#include <string_view>

namespace moil::data {

std::vector<std::uint8_t> wav_head(int rate) {
  constexpr std::uint32_t kOpen = 0xffffffff;
  const auto samples = static_cast<std::uint32_t>(rate);
  std::vector<std::uint8_t> head;
  const auto word = [&](std::string_view text) {
    head.insert(head.end(), text.begin(), text.end());
  };
  const auto number = [&](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) head.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  };
  word("RIFF"), number(kOpen, 4), word("WAVEfmt "), number(16, 4);
  number(1, 2), number(1, 2), number(samples, 4), number(2 * samples, 4), number(2, 2);
  number(16, 2), word("data"), number(kOpen, 4);
  return head;
}

}  // namespace moil::data
