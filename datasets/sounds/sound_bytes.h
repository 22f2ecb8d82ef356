// Where the bytes of a sound file are: in memory, or behind a descriptor that is never read as a
// whole, so that a file may be larger than memory, and a pipe may never end.
//
// Read from one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace moil::data {

class SoundBytes {
 public:
  SoundBytes() = default;
  SoundBytes(const SoundBytes&) = delete;
  SoundBytes& operator=(const SoundBytes&) = delete;
  virtual ~SoundBytes() = default;

  // More than there will ever be, if its end is not known.
  [[nodiscard]] virtual std::int64_t size() const = 0;
  // Whether its end was never known: nobody may look there.
  [[nodiscard]] virtual bool is_endless() const { return false; }
  // The bytes from `at` on, as many as there are up to out.size(); how many that was.
  virtual std::size_t read(std::int64_t at, std::span<std::uint8_t> out) const = 0;
};

// `bytes` outlive it.
class SoundBytesInMemory final : public SoundBytes {
 public:
  explicit SoundBytesInMemory(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::int64_t size() const override {
    return static_cast<std::int64_t>(bytes_.size());
  }
  std::size_t read(std::int64_t at, std::span<std::uint8_t> out) const override;

 private:
  std::span<const std::uint8_t> bytes_;
};

// Reads an open regular file, which stays open as long; kInvalidArgument, beginning with `name`, if
// it is none.
class SoundBytesOfFile final : public SoundBytes {
 public:
  SoundBytesOfFile(int descriptor, std::string_view name);
  [[nodiscard]] std::int64_t size() const override { return size_; }
  std::size_t read(std::int64_t at, std::span<std::uint8_t> out) const override;

 private:
  int descriptor_;
  std::int64_t size_ = 0;
};

}  // namespace moil::data
