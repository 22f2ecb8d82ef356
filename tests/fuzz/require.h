// For the fuzz targets: a broken promise ends the program, so that the fuzzer keeps its bytes.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace moil::test {

inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "promise broken: %s\n", promise);
  std::abort();
}

}  // namespace moil::test
