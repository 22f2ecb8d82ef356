// For the fuzz targets: a broken promise ends the program, so that the fuzzer keeps its bytes.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "base/error.h"

namespace moil::test {

inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "promise broken: %s\n", promise);
  std::abort();
}

// Whether the attempt ends without an error; one must say what is wrong and be no bug of ours.
template <class Attempt>
bool accepts(const Attempt& attempt) {
  try {
    attempt();
    return true;
  } catch (const Error& e) {
    require(e.code() != ErrorCode::kInternal && *e.what() != '\0', "an error says what is wrong");
    return false;
  }
}

}  // namespace moil::test
