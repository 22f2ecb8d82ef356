// Small TensorFlow Lite files to begin with.
#pragma once

#include <map>
#include <string>

namespace moil::test {

// By name.
[[nodiscard]] std::map<std::string, std::string> tflite_seeds();

}  // namespace moil::test
