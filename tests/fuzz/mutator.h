// Files made of others, as a fuzzer makes them, but the same ones each time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

namespace moil::test {

using Bytes = std::vector<std::uint8_t>;

// One of `seeds` with one to eight changes: bits, bytes and numbers that parsers stumble over,
// stretches that are taken out, repeated or come from another seed, an end too early. At most
// `most` bytes. `seeds` is not empty.
Bytes mutated(std::span<const Bytes> seeds, std::size_t most, Random& random);

}  // namespace moil::test
