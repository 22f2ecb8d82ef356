// A fuzzer's entry: MOIL_TRIAL names what it feeds.
#include "tests/fuzz/trials.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  moil::test::MOIL_TRIAL({data, size});
  return 0;
}
