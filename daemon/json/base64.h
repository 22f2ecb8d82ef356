// Bytes in JSON: base64 (RFC 4648, padded, no line breaks). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moil::daemon {

// Empty if the text is not base64.
std::optional<std::vector<std::uint8_t>> decode_base64(std::string_view text);
std::string encode_base64(std::string_view bytes);

}  // namespace moil::daemon
