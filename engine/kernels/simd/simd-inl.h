// Loops shared by the vectorised kernels. Compiled once a target, inside a .cc file that follows
// Highway's dynamic dispatch.
//
// Every element passes through the same vector instructions, wherever it stands: remainders go
// through padded or narrower vectors, never through scalar code that might round
// otherwise. So a result does not depend on how a range was split or on a sample's place in its
// batch.
#if defined(MOIL_ENGINE_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIL_ENGINE_KERNELS_SIMD_INL_H_
#undef MOIL_ENGINE_KERNELS_SIMD_INL_H_
#else
#define MOIL_ENGINE_KERNELS_SIMD_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "engine/kernels/simd/partial-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Calls f(tag, column) over [0, columns): whole vectors first, then ever narrower ones.
template <class F>
HWY_INLINE void for_columns(std::int64_t columns, const F& f) {
  std::int64_t c = 0;
  const auto run = [&](auto d) HWY_ATTR {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; c + lanes <= columns; c += lanes) f(d, c);
  };
  run(hn::ScalableTag<float>());
  if (c == columns) return;
  run(hn::CappedTag<float, 8>());
  run(hn::CappedTag<float, 4>());
  run(hn::CappedTag<float, 1>());
}

// out[i] = f(tag, in[i]...) for i in [begin, end); out may be one of the inputs.
template <class F, class... In>
HWY_INLINE void map(float* out, std::int64_t begin, std::int64_t end, const F& f, const In*... in) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = begin;
  for (; i + lanes <= end; i += lanes) hn::StoreU(f(d, hn::LoadU(d, in + i)...), d, out + i);
  if (i < end) {
    const auto rest = static_cast<std::size_t>(end - i);
    store_first(d, f(d, load_first(d, in + i, rest)...), out + i, rest);
  }
}

// The sum over [begin, end) of f(tag, in[i]...). The order of additions depends on the range alone.
template <class F, class... In>
HWY_INLINE float sum(std::int64_t begin, std::int64_t end, const F& f, const In*... in) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
  std::int64_t i = begin;
  for (; i + 4 * lanes <= end; i += 4 * lanes) {
    s0 = hn::Add(s0, f(d, hn::LoadU(d, in + i)...));
    s1 = hn::Add(s1, f(d, hn::LoadU(d, in + i + lanes)...));
    s2 = hn::Add(s2, f(d, hn::LoadU(d, in + i + 2 * lanes)...));
    s3 = hn::Add(s3, f(d, hn::LoadU(d, in + i + 3 * lanes)...));
  }
  for (; i + lanes <= end; i += lanes) s0 = hn::Add(s0, f(d, hn::LoadU(d, in + i)...));
  if (i < end) {
    const auto rest = static_cast<std::size_t>(end - i);
    const auto value = f(d, load_first(d, in + i, rest)...);
    s1 = hn::Add(s1, hn::IfThenElseZero(hn::FirstN(d, rest), value));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
