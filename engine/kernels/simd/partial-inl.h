// Loads and stores of the first few lanes of a vector that touch no memory beyond them. Compiled
// once a target; see simd-inl.h.
#if defined(MOIL_ENGINE_KERNELS_PARTIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MOIL_ENGINE_KERNELS_PARTIAL_INL_H_
#undef MOIL_ENGINE_KERNELS_PARTIAL_INL_H_
#else
#define MOIL_ENGINE_KERNELS_PARTIAL_INL_H_
#endif

#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {

// Lanes at and behind n are zero.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_first(D d, const float* from, std::size_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(d, n), d, from);
#else
  HWY_ALIGN float lanes[hn::MaxLanes(d)] = {};
  std::memcpy(lanes, from, n * sizeof(float));
  return hn::Load(d, lanes);
#endif
}

template <class D>
HWY_INLINE void store_first(D d, hwy::HWY_NAMESPACE::Vec<D> v, float* to, std::size_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  hn::BlendedStore(v, hn::FirstN(d, n), d, to);
#else
  HWY_ALIGN float lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  std::memcpy(to, lanes, n * sizeof(float));
#endif
}

// Rows of a register tile: what fits into the vector registers beside two columns of vectors.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
inline constexpr int kTileRows = 12;
#else
inline constexpr int kTileRows = 6;
#endif

}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
