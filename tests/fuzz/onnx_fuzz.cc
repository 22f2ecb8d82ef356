// The fuzzer's entry: ONNX files.
#include "tests/fuzz/onnx_trial.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  moil::test::try_onnx({data, size});
  return 0;
}
