// Multiply-adds from registers alone: how fast this CPU can compute at the most.
//
// Thread-safe; nothing allocates.
#pragma once

#include <cstdint>

namespace moil {

// Floating-point operations of one round on one thread.
[[nodiscard]] std::int64_t multiply_add_flops();
// Does so many rounds on the calling thread; a value that depends on all of them.
float multiply_adds(std::int64_t rounds);
// The instruction set that the kernels were dispatched to: "AVX2", "NEON".
[[nodiscard]] const char* vector_target();

}  // namespace moil
