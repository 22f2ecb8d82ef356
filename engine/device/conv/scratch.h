// Memory for trying kernels out: from the system and back to it, so that it leaves no trace in the
// process's heap.
#pragma once

#include <cstddef>
#include <utility>

namespace moil {

class Scratch {
 public:
  Scratch() = default;
  // Filled with small values of both signs. Throws kResourceExhausted.
  explicit Scratch(std::size_t bytes);
  Scratch(Scratch&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Scratch& operator=(Scratch&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Scratch();

  std::byte* bytes() const { return data_; }
  float* floats() const { return reinterpret_cast<float*>(data_); }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace moil
