#include "engine/kernels/rows/dropout.h"

#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/rows/dropout.cc"
#include "hwy/foreach_target.h"
//
#include "engine/kernels/simd/simd-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

// A bijection of 32-bit words in which every input bit moves every output bit about half the time
// (multipliers found by search: C. Wellons, hash-prospector).
template <class D, class V>
HWY_INLINE V mix(D d, V x) {
  x = hn::Xor(x, hn::ShiftRight<16>(x));
  x = hn::Mul(x, hn::Set(d, 0x7feb352dU));
  x = hn::Xor(x, hn::ShiftRight<15>(x));
  x = hn::Mul(x, hn::Set(d, 0x846ca68bU));
  return hn::Xor(x, hn::ShiftRight<16>(x));
}

void dropout_range(const float* in, float* out, std::uint64_t key, std::uint32_t threshold,
                   float scale, std::int64_t begin, std::int64_t end, std::int64_t first) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> u;
  const auto low = hn::Set(u, static_cast<std::uint32_t>(key));
  const auto high = hn::Set(u, static_cast<std::uint32_t>(key >> 32));
  const auto step = [&](auto v, std::int64_t i) HWY_ATTR {
    const auto index = hn::Iota(u, static_cast<std::uint32_t>(i));
    const auto random = mix(u, hn::Add(mix(u, hn::Xor(index, low)), high));
    const auto dropped = hn::Lt(random, hn::Set(u, threshold));
    return hn::IfThenZeroElse(hn::RebindMask(d, dropped), hn::Mul(v, hn::Set(d, scale)));
  };
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = begin;
  for (; i + lanes <= end; i += lanes)
    hn::StoreU(step(hn::LoadU(d, in + i), first + i), d, out + i);
  if (i < end) {
    const auto rest = static_cast<std::size_t>(end - i);
    store_first(d, step(load_first(d, in + i, rest), first + i), out + i, rest);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {

HWY_EXPORT(dropout_range);

void dropout(const float* in, float* out, std::uint64_t key, double rate, std::int64_t begin,
             std::int64_t end, std::int64_t first) {
  const auto threshold = static_cast<std::uint32_t>(rate * 4294967296.0);
  const auto scale = static_cast<float>(1.0 / (1.0 - rate));
  HWY_DYNAMIC_DISPATCH(dropout_range)(in, out, key, threshold, scale, begin, end, first);
}

}  // namespace moil
#endif  // HWY_ONCE
