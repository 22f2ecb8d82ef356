// write(2) to the end, whatever interrupts it. Safe from any thread.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <string_view>

namespace moil {

// False, and errno set, if the descriptor takes no more.
[[nodiscard]] inline bool write_all(int descriptor, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

[[nodiscard]] inline bool write_all(int descriptor, std::string_view text) {
  return write_all(descriptor, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace moil
