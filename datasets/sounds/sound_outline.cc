#include "datasets/sounds/sound_outline.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace moil::data {
namespace {

using Swing = SoundOutline::Swing;

Swing both(const Swing& a, const Swing& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

}  // namespace

// If there are too many, each two become one, and the next ones are twice as long.
SoundOutline outline_of(SoundFile& sound, std::size_t most, double most_seconds) {
  SoundOutline outline;
  std::vector<Swing>& swings = outline.swings;
  std::array<float, 4096> samples{};
  std::size_t length = 16, in_last = 0;
  auto left = static_cast<std::int64_t>(most_seconds * sound.rate());
  std::int64_t seen = 0;
  for (std::size_t some = 1; some > 0 && left > 0;) {
    some = sound.read(
        std::span(samples).first(static_cast<std::size_t>(std::min<std::int64_t>(left, 4096))));
    left -= static_cast<std::int64_t>(some);
    seen += static_cast<std::int64_t>(some);
    for (const float sample : std::span(samples).first(some)) {
      if (in_last == 0 && swings.size() == most) {
        for (std::size_t i = 0; i < most / 2; ++i)
          swings[i] = both(swings[2 * i], swings[2 * i + 1]);
        swings.resize(most / 2);
        length *= 2;
      }
      const Swing one{sample, sample};
      if (in_last == 0)
        swings.push_back(one);
      else
        swings.back() = both(swings.back(), one);
      in_last = (in_last + 1) % length;
    }
  }
  outline.seconds = static_cast<double>(seen) / sound.rate();
  return outline;
}

double silent_share(const SoundOutline& outline, double floor_db) {
  const auto floor = static_cast<float>(std::pow(10, floor_db / 20));
  const auto silent = std::ranges::count_if(
      outline.swings, [&](const Swing& s) { return std::max(s.high, -s.low) < floor; });
  return static_cast<double>(silent) /
         static_cast<double>(std::max<std::size_t>(1, outline.swings.size()));
}

}  // namespace moil::data
