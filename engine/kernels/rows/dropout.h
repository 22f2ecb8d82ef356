// Dropout: zeroes each element with a given probability and scales what is kept.
//
// Whether an element is kept is a function of (key, index) alone, so forward and derivative agree
// without a stored mask, and the number of threads does not matter. Pure; thread-safe.
#pragma once

#include <cstdint>

namespace moil {

// out[i] = kept(key, first + i) ? in[i] / (1 - rate) : 0 for i in [begin, end), at most 2^32
// elements. 0 <= rate < 1. out may be in.
void dropout(const float* in, float* out, std::uint64_t key, double rate, std::int64_t begin,
             std::int64_t end, std::int64_t first = 0);

}  // namespace moil
