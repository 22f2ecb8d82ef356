#include "engine/kernels/rows/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"

namespace moil {
namespace {

// A tile's lines of both sides stay in the first-level cache while it is turned.
constexpr std::int64_t kTile = 16;

// Rows are one apart in the input, columns in the output.
void turn(const float* in, std::int64_t in_stride, float* out, std::int64_t out_stride,
          std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r0 = 0; r0 < rows; r0 += kTile) {
    for (std::int64_t c0 = 0; c0 < columns; c0 += kTile) {
      const std::int64_t r1 = std::min(rows, r0 + kTile), c1 = std::min(columns, c0 + kTile);
      for (std::int64_t r = r0; r < r1; ++r)
        for (std::int64_t c = c0; c < c1; ++c) out[r * out_stride + c] = in[c * in_stride + r];
    }
  }
}

void copy_row(const float* in, std::int64_t in_stride, float* out, std::int64_t out_stride,
              std::int64_t size) {
  if (in_stride == 1 && out_stride == 1) {
    std::memcpy(out, in, static_cast<std::size_t>(size) * sizeof(float));
    return;
  }
  for (std::int64_t i = 0; i < size; ++i) out[i * out_stride] = in[i * in_stride];
}

}  // namespace

std::array<std::int64_t, Dims::kMaxRank> plain_strides(const Dims& dims) {
  std::array<std::int64_t, Dims::kMaxRank> strides{};
  std::int64_t stride = 1;
  for (std::size_t k = dims.rank(); k-- > 0; stride *= dims[k]) strides[k] = stride;
  return strides;
}

StridedCopy::StridedCopy(std::span<const std::int64_t> dims,
                         std::span<const std::int64_t> in_strides,
                         std::span<const std::int64_t> out_strides) {
  for (std::size_t k = 0; k < dims.size(); ++k) add({dims[k], in_strides[k], out_strides[k]});
  arrange();
}

StridedCopy StridedCopy::reversed() const {
  StridedCopy back;
  for (std::size_t k = 0; k < rank_; ++k) back.add({axes_[k].size, axes_[k].out, axes_[k].in});
  back.arrange();
  return back;
}

// Axes that are one in both tensors become one.
void StridedCopy::add(const Axis& axis) {
  if (axis.size == 1) return;
  if (rank_ > 0) {
    Axis& before = axes_[rank_ - 1];
    if (before.in == axis.in * axis.size && before.out == axis.out * axis.size) {
      before = {before.size * axis.size, axis.in, axis.out};
      return;
    }
  }
  axes_[rank_++] = axis;
}

// The output's innermost axis comes last; the input's, if that is another, before it.
void StridedCopy::arrange() {
  const auto begin = axes_.begin(), end = begin + static_cast<std::ptrdiff_t>(rank_);
  std::stable_sort(begin, end, [](const Axis& a, const Axis& b) { return a.out > b.out; });
  if (rank_ == 0) axes_[rank_++] = {1, 1, 1};
  turns_ = false;
  if (rank_ < 2 || axes_[rank_ - 1].in == 1 || axes_[rank_ - 1].out != 1) return;
  for (std::size_t k = 0; k + 1 < rank_; ++k) {
    if (axes_[k].in != 1) continue;
    std::rotate(begin + static_cast<std::ptrdiff_t>(k), begin + static_cast<std::ptrdiff_t>(k) + 1,
                end - 1);
    turns_ = true;
    return;
  }
}

void StridedCopy::run(const float* in, float* out) const {
  const std::size_t outer = rank_ - (turns_ ? 2 : 1);
  std::int64_t count = 1, inner = 1;
  for (std::size_t k = 0; k < rank_; ++k) (k < outer ? count : inner) *= axes_[k].size;
  const Axis& last = axes_[rank_ - 1];
  const Axis& rows = axes_[rank_ - (turns_ ? 2 : 1)];
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / inner);
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t rest = i, from = 0, to = 0;
      for (std::size_t k = outer; k-- > 0; rest /= axes_[k].size) {
        const std::int64_t at = rest % axes_[k].size;
        from += at * axes_[k].in;
        to += at * axes_[k].out;
      }
      if (turns_)
        turn(in + from, last.in, out + to, rows.out, rows.size, last.size);
      else
        copy_row(in + from, last.in, out + to, last.out, last.size);
    }
  });
}

}  // namespace moil
