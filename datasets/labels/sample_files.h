// The label store's own copies of larger samples: one file a sample, named by its digest,
// <root>/<first two digits>/<32 digits>, mode 0600 in folders 0700.
//
// A file is written and made durable before the row that needs it is committed, and removed after
// the row is gone. What a crash leaves between the two is an orphan: remove_orphans() ends it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "base/files/unique_fd.h"
#include "datasets/identity/digest.h"

namespace moil::data {

class SampleFiles {
 public:
  explicit SampleFiles(std::filesystem::path root) : root_(std::move(root)) {}

  [[nodiscard]] std::filesystem::path path_of(const Digest& digest) const;
  void write(const Digest& digest, std::span<const std::uint8_t> bytes) const;
  // kNotFound, or kBadData if the content is not what the digest says.
  [[nodiscard]] std::vector<std::uint8_t> read(const Digest& digest, std::uint64_t size) const;
  // For reading; kNotFound.
  [[nodiscard]] UniqueFd open(const Digest& digest) const;
  // Its first bytes, `most` at most; kNotFound.
  [[nodiscard]] std::vector<std::uint8_t> read_head(const Digest& digest, std::size_t most) const;
  // Absent ones are fine. The disk is waited for once a folder, not once a file.
  void remove(std::span<const Digest> digests) const;
  void remove(const Digest& digest) const { remove(std::span(&digest, 1)); }

  // Removes every file whose name is no digest for which `known` is true; returns how many.
  std::size_t remove_orphans(const std::function<bool(const Digest&)>& known) const;

 private:
  std::filesystem::path root_;
};

}  // namespace moil::data
