// A gradient that holds only the rows of a weight that a batch touched, at most so many.
//
// In memory: how many there are, their numbers in rising order, and their values, each part from a
// cache line on. A view of memory that outlives it; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace moil {

class RowGradient {
 public:
  // capacity: rows at most. width: elements of a row.
  RowGradient(void* memory, std::int64_t capacity, std::int64_t width)
      : memory_(static_cast<std::byte*>(memory)), capacity_(capacity), width_(width) {}

  static constexpr std::size_t bytes(std::int64_t capacity, std::int64_t width) {
    return values_at(capacity) + static_cast<std::size_t>(capacity * width) * sizeof(float);
  }

  std::int32_t& count() const { return *reinterpret_cast<std::int32_t*>(memory_); }
  // Room for all that there may be.
  std::int32_t* numbers() const { return reinterpret_cast<std::int32_t*>(memory_ + kLine); }
  float* values() const { return reinterpret_cast<float*>(memory_ + values_at(capacity_)); }
  float* row(std::int64_t i) const { return values() + i * width_; }

  std::span<const std::int32_t> rows() const {
    return {numbers(), static_cast<std::size_t>(count())};
  }
  std::int64_t capacity() const { return capacity_; }
  std::int64_t width() const { return width_; }

 private:
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t values_at(std::int64_t capacity) {
    const std::size_t end = kLine + static_cast<std::size_t>(capacity) * sizeof(std::int32_t);
    return (end + kLine - 1) / kLine * kLine;
  }

  std::byte* memory_;
  std::int64_t capacity_, width_;
};

}  // namespace moil
