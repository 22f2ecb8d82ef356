// Copies between tensors whose elements lie in different orders: slices, paddings, permutations.
//
// Made once, when shapes are known, which may allocate; copying does not, is parallel over the
// outer dimensions and thread-safe. Input and output must not overlap.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "engine/tensor/dims.h"

namespace moil {

class StridedCopy {
 public:
  StridedCopy() = default;
  // Element (i, j, ...) of `dims` goes from in[i * in_strides[0] + ...] to out[i * out_strides[0]
  // + ...]. At most Dims::kMaxRank dims.
  StridedCopy(std::span<const std::int64_t> dims, std::span<const std::int64_t> in_strides,
              std::span<const std::int64_t> out_strides);

  void run(const float* in, float* out) const;
  // The copy that brings the elements back.
  StridedCopy reversed() const;

 private:
  struct Axis {
    std::int64_t size = 1, in = 0, out = 0;
  };

  void add(const Axis& axis);
  void arrange();

  std::array<Axis, Dims::kMaxRank + 1> axes_{};  // the outermost first
  std::size_t rank_ = 0;
  bool turns_ = false;  // the last two axes are a transposition
};

// Row-major strides of dims.
[[nodiscard]] std::array<std::int64_t, Dims::kMaxRank> plain_strides(const Dims& dims);

}  // namespace moil
