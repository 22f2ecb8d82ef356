#include "engine/tensor/dims.h"

#include "base/error.h"

namespace moil {

Dims::Dims(std::span<const std::int64_t> dims) {
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;
  if (dims.size() > kMaxRank) {
    throw Error(ErrorCode::kInvalidArgument,
                "a tensor of " + std::to_string(dims.size()) + " dimensions; at most 6");
  }
  for (const std::int64_t d : dims) {
    if (d < 1 || d > kMaxElements / elements_) {
      throw Error(ErrorCode::kInvalidArgument,
                  "dimension " + std::to_string(d) +
                      " is below 1 or makes a tensor of more than 2^40 elements");
    }
    elements_ *= d;
    dims_[rank_++] = d;
  }
}

Dims Dims::with_batch(std::int64_t batch) const {
  std::array<std::int64_t, kMaxRank> copy = dims_;
  copy[0] = batch;
  return Dims(std::span(copy.data(), rank_));
}

std::string Dims::to_string() const {
  std::string text;
  for (std::size_t i = 0; i < rank_; ++i) text += (i ? "x" : "") + std::to_string(dims_[i]);
  return text;
}

}  // namespace moil
