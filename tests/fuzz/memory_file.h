// A file in memory, for readers that take a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/files/unique_fd.h"
#include "tests/fuzz/require.h"

namespace moil::test {

class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes)
      : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    const auto size = static_cast<ssize_t>(bytes.size());
    require(::write(file_.get(), bytes.data(), bytes.size()) == size, "a file in memory is whole");
  }

  [[nodiscard]] std::filesystem::path path() const {
    return "/proc/self/fd/" + std::to_string(file_.get());
  }

 private:
  UniqueFd file_;
};

}  // namespace moil::test
