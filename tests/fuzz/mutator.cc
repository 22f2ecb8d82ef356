#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <array>

namespace moil::test {
namespace {

constexpr std::array<std::uint8_t, 10> kAwkward = {0,   1,   0x7f, 0x80, 0xff,
                                                   '"', '{', '\n', '-',  '9'};

struct Stretch {
  std::size_t begin, size;
};

// Within so many bytes, which are more than none; short ones are likelier.
Stretch stretch_of(std::size_t bytes, Random& random) {
  const std::size_t begin = random.below(bytes);
  const std::size_t most = std::min<std::size_t>(bytes - begin, std::size_t{1} << random.below(12));
  return {begin, 1 + random.below(most)};
}

auto at(Bytes& bytes, std::size_t i) { return bytes.begin() + static_cast<std::ptrdiff_t>(i); }

void flip_a_bit(Bytes& bytes, Random& random) {
  bytes[random.below(bytes.size())] ^= static_cast<std::uint8_t>(1U << random.below(8));
}

void put_an_awkward_byte(Bytes& bytes, Random& random) {
  bytes[random.below(bytes.size())] = kAwkward[random.below(kAwkward.size())];
}

// The largest and the smallest integers, where one may stand.
void put_an_awkward_number(Bytes& bytes, Random& random) {
  const std::size_t size = std::min<std::size_t>(bytes.size(), std::size_t{1} << random.below(4));
  const std::size_t begin = random.below(bytes.size() - size + 1);
  std::fill_n(at(bytes, begin), size, random.below(2) == 0 ? 0 : 0xff);
  if (random.below(2) == 0) *at(bytes, begin + size - 1) ^= 0x80;
}

void take_out(Bytes& bytes, Random& random) {
  const auto [begin, size] = stretch_of(bytes.size(), random);
  bytes.erase(at(bytes, begin), at(bytes, begin + size));
}

void put_in(Bytes& bytes, const Bytes& other, Random& random) {
  const auto [begin, size] = stretch_of(other.size(), random);
  const auto from = other.begin() + static_cast<std::ptrdiff_t>(begin);
  const Bytes piece(from, from + static_cast<std::ptrdiff_t>(size));
  bytes.insert(at(bytes, random.below(bytes.size() + 1)), piece.begin(), piece.end());
}

void change(Bytes& bytes, std::span<const Bytes> seeds, Random& random) {
  switch (random.below(7)) {
    case 0:
      return flip_a_bit(bytes, random);
    case 1:
      return put_an_awkward_byte(bytes, random);
    case 2:
      return put_an_awkward_number(bytes, random);
    case 3:
      return take_out(bytes, random);
    case 4:
      return put_in(bytes, Bytes(bytes), random);
    case 5:
      if (const Bytes& other = seeds[random.below(seeds.size())]; !other.empty())
        put_in(bytes, other, random);
      return;
    default:
      bytes.resize(random.below(bytes.size()) + 1);
  }
}

}  // namespace

Bytes mutated(std::span<const Bytes> seeds, std::size_t most, Random& random) {
  Bytes bytes = seeds[random.below(seeds.size())];
  int changes = 1;  // half of the files have one, for many are refused
  while (changes < 8 && random.below(2) == 0) ++changes;
  for (int i = 0; i < changes && !bytes.empty(); ++i) change(bytes, seeds, random);
  bytes.resize(std::min(bytes.size(), most));
  return bytes;
}

}  // namespace moil::test
