// What the image fuzzer begins with: small images of every format and kind.
#pragma once

#include <map>
#include <string>

namespace moil::test {

// Files by name.
[[nodiscard]] std::map<std::string, std::string> image_seeds();

}  // namespace moil::test
