// Weights between the order of files (PyTorch's) and the order in memory. Pure functions.
#pragma once

#include <algorithm>

#include "engine/layers/layer.h"

namespace moil {

// Both copy spec.dims.elements() values; from and to must not overlap.
void to_memory_order(const WeightSpec& spec, const float* file, float* memory);
void to_file_order(const WeightSpec& spec, const float* memory, float* file);

// A rank-4 weight that lies in another order in memory, in blocks that threads may share: each is a
// few rows of the file side by side, which lie beside each other in memory.
class WeightBlocks {
 public:
  explicit WeightBlocks(const WeightSpec& spec)
      // A depthwise weight is one of a single group and a single input.
      : groups_(spec.order == WeightOrder::kDepthwise ? 1 : spec.groups),
        out_(spec.dims[0] / groups_),
        in_(spec.dims[1]),
        area_(spec.dims.elements() / spec.dims[0] / spec.dims[1]) {}

  static constexpr std::int64_t kRows = 16;
  std::int64_t count() const { return groups_ * of_group(); }
  std::int64_t elements() const { return kRows * row(); }  // of a block, at most

  // Calls visit(file, stride, memory, n) for runs of a block: n <= kRows elements that begin at
  // these indices, `stride` apart in the file.
  template <class Visit>
  void visit(std::int64_t block, const Visit& visit) const {
    const std::int64_t group = block / of_group(), first = block % of_group() * kRows;
    const std::int64_t n = std::min(kRows, out_ - first);
    for (std::int64_t i = 0; i < in_; ++i) {
      for (std::int64_t k = 0; k < area_; ++k)
        visit((group * out_ + first) * row() + i * area_ + k, row(),
              ((group * area_ + k) * in_ + i) * out_ + first, n);
    }
  }

 private:
  std::int64_t of_group() const { return (out_ + kRows - 1) / kRows; }
  std::int64_t row() const { return in_ * area_; }

  std::int64_t groups_, out_, in_, area_;
};

}  // namespace moil
