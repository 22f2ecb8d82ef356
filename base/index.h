#pragma once

#include <cstddef>
#include <cstdint>

namespace moil {

// A signed index, such as an execution order or a tensor's dimension, as a container takes it. It
// is at least 0.
constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// The other way: a size as shapes and kernels take it.
constexpr std::int64_t wide(std::size_t n) { return static_cast<std::int64_t>(n); }

}  // namespace moil
