// Pseudo-random generators whose numbers are the same on every machine and in every build.
//
// xoshiro256** seeded through splitmix64. std::shuffle and the std distributions are left aside on
// purpose: their results differ between standard libraries, and a job's draw may not.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace moil {

// The next number of the simplest generator, whose state is one word: for seeds, and for uses that
// ask little of the numbers.
inline std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// One 64-bit seed out of a seed and a name (a class, "epoch"), so that streams do not touch.
[[nodiscard]] std::uint64_t derive_seed(std::uint64_t seed, std::string_view name);

class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t next();
  // Uniform in [0, bound), without bias; bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [0, 1): 53 bits.
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // Fisher-Yates from the front: the first k items depend on nothing that comes after them being
  // drawn, so a shorter sample is a prefix of a longer one.
  template <typename T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = 0; i + 1 < items.size(); ++i) {
      std::swap(items[i], items[i + below(items.size() - i)]);
    }
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace moil
