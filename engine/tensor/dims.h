// Dimensions of a tensor: up to six, each at least 1.
//
// The logical order is that of the field: [N, C, H, W] for images, [N, F] for vectors, [N, L, F]
// for sequences. How the elements lie in memory is the tensor's Layout (tensor/spec.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace moil {

class Dims {
 public:
  static constexpr std::size_t kMaxRank = 6;

  Dims() = default;
  // Throws kInvalidArgument: more than six, a dimension below 1, or more than 2^40 elements.
  Dims(std::initializer_list<std::int64_t> dims) : Dims(std::span(dims.begin(), dims.size())) {}
  explicit Dims(std::span<const std::int64_t> dims);

  std::size_t rank() const { return rank_; }
  std::int64_t operator[](std::size_t i) const { return dims_[i]; }
  // The dimension i counted from the end: back(0) is the last.
  std::int64_t back(std::size_t i = 0) const { return dims_[rank_ - 1 - i]; }
  std::int64_t elements() const { return elements_; }  // 1 for rank 0 (a scalar)
  std::int64_t elements_per_sample() const { return rank_ == 0 ? 1 : elements_ / dims_[0]; }

  // The same dims with the first (batch) replaced.
  Dims with_batch(std::int64_t batch) const;

  std::span<const std::int64_t> values() const { return {dims_.data(), rank_}; }
  std::string to_string() const;  // "64x3x32x32"

  friend bool operator==(const Dims& a, const Dims& b) {
    return a.rank_ == b.rank_ && a.dims_ == b.dims_;
  }

 private:
  std::array<std::int64_t, kMaxRank> dims_{};
  std::size_t rank_ = 0;
  std::int64_t elements_ = 1;
};

}  // namespace moil
