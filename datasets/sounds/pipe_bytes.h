// The bytes of a pipe, as a file that is read from its beginning to its end and that nobody goes
// far back in. Memory does not grow with what went through. One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "datasets/sounds/sound_bytes.h"

namespace moil::data {

class PipeBytes final : public SoundBytes {
 public:
  // Reads the descriptor, which stays open as long, and waits for what is not there yet.
  PipeBytes(int descriptor, std::string_view name) : descriptor_(descriptor), name_(name) {}

  // Known once the end was read.
  [[nodiscard]] std::int64_t size() const override { return has_ended_ ? read_ : kEver; }
  [[nodiscard]] bool is_endless() const override { return true; }
  // Nothing of what lies more than kKept before or behind what was read last. kIo.
  std::size_t read(std::int64_t at, std::span<std::uint8_t> out) const override;
  static constexpr std::int64_t kKept = std::int64_t{1} << 18;

 private:
  static constexpr std::int64_t kEver = std::int64_t{1} << 62;
  void read_to(std::int64_t end) const;

  int descriptor_;
  std::string name_;
  mutable std::vector<std::uint8_t> kept_;  // the last of what was read
  mutable std::int64_t read_ = 0;           // so far
  mutable bool has_ended_ = false;
};

}  // namespace moil::data
