// How often this test program asked the heap for memory, on any thread.
//
// The program's malloc, calloc, realloc and aligned forms count and pass on to glibc's; so do what
// operator new and C libraries call. Under a sanitizer, which brings its own, nothing is counted.
#pragma once

#include <cstdint>

namespace moil::test {

[[nodiscard]] std::uint64_t allocations();

}  // namespace moil::test
