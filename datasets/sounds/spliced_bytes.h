// A sound file as it should have been written: stretches of what lies elsewhere, and bytes of its
// own between them.
//
// Read from one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/sounds/sound_bytes.h"

namespace moil::data {

class SplicedBytes final : public SoundBytes {
 public:
  // `base` outlives it.
  explicit SplicedBytes(const SoundBytes& base) : base_(base) {}

  // Adds bytes at the end: its own, and those of the base from `from` on.
  void add(std::vector<std::uint8_t> own);
  void add(std::int64_t from, std::int64_t size);

  [[nodiscard]] std::int64_t size() const override { return size_; }
  std::size_t read(std::int64_t at, std::span<std::uint8_t> out) const override;

 private:
  struct Stretch {
    std::int64_t begin = 0, size = 0;  // here
    std::int64_t from = 0;             // in the base
    std::vector<std::uint8_t> own;     // else
  };

  const SoundBytes& base_;
  std::vector<Stretch> stretches_;
  std::int64_t size_ = 0;
};

}  // namespace moil::data
