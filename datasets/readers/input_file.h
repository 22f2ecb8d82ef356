// A file that is read at offsets, in place. From any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/files/unique_fd.h"

namespace moil::data {

class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);  // open_regular()'s errors

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  // Fills `target`; kBadData if the file ends before.
  void read(std::uint64_t offset, std::span<std::uint8_t> target) const;
  [[nodiscard]] std::vector<std::uint8_t> read(std::uint64_t offset, std::uint64_t count) const;

 private:
  std::filesystem::path path_;
  UniqueFd file_;
  std::uint64_t size_ = 0;
};

}  // namespace moil::data
