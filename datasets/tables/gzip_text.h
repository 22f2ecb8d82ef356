// Text that may be compressed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace moil::data {

// A file's text, plain or gzip. kBadData for a damaged file and for more than max_bytes of text,
// kNotFound, kIo. Safe from any thread.
[[nodiscard]] std::string read_gzip_text(const std::filesystem::path& path,
                                         std::uint64_t max_bytes);

}  // namespace moil::data
