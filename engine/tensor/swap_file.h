// Where swapped tensors lie while they are not in memory: one file without a name.
//
// The file is unlinked as it is made, so that a killed process leaves nothing behind, and its
// blocks are reserved, so that a full disk is an error before the first step and never in one. I/O
// goes past the page cache if the file system can (O_DIRECT); if it cannot, written pages are
// dropped from the cache after each transfer.
// Errors: kIo, kResourceExhausted. Transfers of different ranges may run on several threads.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "base/files/unique_fd.h"

namespace moil {

class SwapFile {
 public:
  SwapFile(const std::filesystem::path& folder, std::size_t bytes);

  // offset, bytes and the address are multiples of kSwapAlignment (tensor/residency.h).
  void read(std::size_t offset, std::span<std::byte> to) const;
  void write(std::size_t offset, std::span<const std::byte> from) const;

  // A range as memory, written through; for when no step runs. Unmapped and out of the page cache
  // when the last holder lets go.
  [[nodiscard]] std::shared_ptr<std::byte> map(std::size_t offset, std::size_t bytes) const;

  std::size_t bytes() const { return bytes_; }
  bool direct() const { return direct_; }

 private:
  UniqueFd fd_;
  std::size_t bytes_ = 0;
  bool direct_ = true;
};

// Bytes a second that a file in this folder reads and writes, measured with 32 MiB.
struct DiskSpeed {
  double read_bytes_per_second = 0, write_bytes_per_second = 0;
};
[[nodiscard]] DiskSpeed measure_disk(const std::filesystem::path& folder);

}  // namespace moil
