// The fuzzer's entry: images.
#include "tests/fuzz/image_trial.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  moil::test::try_image({data, size});
  return 0;
}
