#include "engine/kernels/multiply_adds.h"

#include "engine/kernels/simd/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/multiply_adds.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace moil {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Enough to hide the latency of two units, and few enough for sixteen registers.
constexpr std::size_t kChains = 12;

std::int64_t flops() {
  return static_cast<std::int64_t>(2 * kChains * hn::Lanes(hn::ScalableTag<float>()));
}

float rounds_of(std::int64_t rounds) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.999F), term = hn::Set(d, 1e-3F);
  hn::VFromD<decltype(d)> chains[kChains];
  for (auto& chain : chains) chain = term;
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (auto& chain : chains) chain = hn::MulAdd(chain, factor, term);
  }
  auto sum = hn::Zero(d);
  for (const auto& chain : chains) sum = hn::Add(sum, chain);
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

const char* target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace moil
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace moil {
namespace {
HWY_EXPORT(flops);
HWY_EXPORT(rounds_of);
HWY_EXPORT(target);
}  // namespace

std::int64_t multiply_add_flops() { return HWY_DYNAMIC_DISPATCH(flops)(); }
float multiply_adds(std::int64_t rounds) { return HWY_DYNAMIC_DISPATCH(rounds_of)(rounds); }
const char* vector_target() { return HWY_DYNAMIC_DISPATCH(target)(); }

}  // namespace moil
#endif
