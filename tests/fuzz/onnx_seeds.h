// What the ONNX fuzzer begins with: small networks that touch every operator.
#pragma once

#include <map>
#include <string>

namespace moil::test {

// Files by name.
[[nodiscard]] std::map<std::string, std::string> onnx_seeds();

}  // namespace moil::test
