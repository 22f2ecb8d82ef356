// Whether training still makes numbers: an infinity or a NaN in a weight never goes away again, and
// a ReLU may hide it from the loss.
//
// In parallel, and allocating nothing; safe from any thread.
#pragma once

#include <cstdint>

namespace moil {

[[nodiscard]] bool all_finite(const float* values, std::int64_t count);

}  // namespace moil
