// Whether training still makes numbers: an infinity or a NaN in a weight never goes away again, and
// a ReLU may hide it from the loss.
//
// In parallel, and allocating nothing; safe from any thread.
#pragma once

#include <cstdint>
#include <string>

namespace moil {

[[nodiscard]] bool all_finite(const float* values, std::int64_t count);

// kFailedPrecondition: trying again would come to the same. `what` is not finite after `step`,
// counted from 1.
[[noreturn]] void throw_diverged(const std::string& what, std::int64_t step);

}  // namespace moil
