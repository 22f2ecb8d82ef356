#include "base/random.h"

#include <bit>

#include "base/hash.h"

namespace moil {

std::uint64_t derive_seed(std::uint64_t seed, std::string_view name) { return hash64(name, seed); }

Random::Random(std::uint64_t seed) {
  for (auto& word : state_) word = splitmix64(seed);
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) {
  const std::uint64_t mask = std::bit_ceil(bound) - 1;
  for (;;) {  // at least every second try is in range
    const std::uint64_t value = next() & mask;
    if (value < bound) return value;
  }
}

}  // namespace moil
