// The content of a sample in label.add: base64 in the request, or a descriptor sent along with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moil::daemon {

// Empty where the text is not base64 (RFC 4648, padded, no line breaks).
std::optional<std::vector<std::uint8_t>> decode_base64(std::string_view text);
std::string encode_base64(std::string_view bytes);

// The whole of a regular file, from its beginning. kInvalidArgument where it is not a regular file,
// kResourceExhausted where it is larger than max_bytes.
std::vector<std::uint8_t> read_descriptor(int fd, std::uint64_t max_bytes);

}  // namespace moil::daemon
