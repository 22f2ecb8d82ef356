#include "datasets/sounds/spliced_bytes.h"

#include <algorithm>
#include <utility>

namespace moil::data {

void SplicedBytes::add(std::vector<std::uint8_t> own) {
  const auto size = static_cast<std::int64_t>(own.size());
  stretches_.push_back({size_, size, 0, std::move(own)});
  size_ += size;
}

void SplicedBytes::add(std::int64_t from, std::int64_t size) {
  stretches_.push_back({size_, size, from, {}});
  size_ += size;
}

std::size_t SplicedBytes::read(std::int64_t at, std::span<std::uint8_t> out) const {
  std::size_t done = 0;
  for (const Stretch& stretch : stretches_) {
    if (done == out.size()) break;
    const std::int64_t place = at + static_cast<std::int64_t>(done) - stretch.begin;
    if (place < 0 || place >= stretch.size) continue;
    const auto wanted = static_cast<std::size_t>(
        std::min<std::int64_t>(stretch.size - place, static_cast<std::int64_t>(out.size() - done)));
    const auto part = out.subspan(done, wanted);
    if (stretch.own.empty()) {
      const std::size_t some = base_.read(stretch.from + place, part);
      done += some;
      if (some < wanted) break;
    } else {
      std::copy_n(stretch.own.begin() + place, wanted, part.begin());
      done += wanted;
    }
  }
  return done;
}

}  // namespace moil::data
