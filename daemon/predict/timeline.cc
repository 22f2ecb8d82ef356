#include "daemon/predict/timeline.h"

#include <algorithm>
#include <tuple>

namespace moil::night {

std::vector<std::uint32_t> Timeline::add(std::uint32_t part, std::span<const std::uint32_t> said,
                                         std::span<const float> probabilities) {
  std::vector<std::uint32_t> begun;
  for (const std::uint32_t label : said) {
    const auto [at, is_new] = open_.try_emplace(label, Open{part, part, probabilities[label]});
    Open& open = at->second;
    const bool goes_on = !is_new && touches(open, part);
    if (!is_new && !goes_on) {
      close(label, open);
      open = {part, part, probabilities[label]};
    }
    if (!goes_on) begun.push_back(label);
    open.last = part;
    open.probability = std::max(open.probability, probabilities[label]);
  }
  return begun;
}

// Parts overlap: between two that say it there may be one that does not, and no time without it.
bool Timeline::touches(const Open& open, std::uint32_t part) const {
  constexpr double kRounding = 1e-9;
  const auto apart = static_cast<double>(part - open.last);
  return apart <= 1 || apart * places_.hop <= places_.length * (1 + kRounding);
}

void Timeline::close(std::uint32_t label, const Open& open) {
  if (told_.heard.size() == most_) {
    ++told_.more;
    return;
  }
  const double to = open.last * places_.hop + places_.length;
  told_.heard.push_back(
      {open.first * places_.hop, std::min(to, places_.end), label, open.probability});
}

Timeline::Told Timeline::take() {
  for (const auto& [label, open] : open_) close(label, open);
  open_.clear();
  std::ranges::sort(told_.heard, {}, [](const Heard& h) { return std::tuple(h.from, h.label); });
  return std::move(told_);
}

}  // namespace moil::night
