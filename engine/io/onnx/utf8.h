// Whether text is UTF-8, as ONNX demands of every name. Pure; thread-safe.
#pragma once

#include <string_view>

namespace moil::onnx {

// No overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace moil::onnx
