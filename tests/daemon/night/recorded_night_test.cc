// The same job, seed, recorded kernels and data end in the same bits, from build to build. A change
// of these hashes is a change of every user's next night: it needs a reason.
#include <cblas.h>

#include "base/hash.h"
#include "daemon/night/plan/kernel_profile.h"
#include "tests/daemon/night/job_place.h"
#include "tests/plain_build.h"

namespace moil::night {
namespace {

// Kernels that every device has, in place of those that it would measure. Bits are those of one
// instruction set.
const KernelChoices kRecorded = {
    {"conv F b* 1x8x8 -> 8 k3x3 s1x1 p1,1,1,1 d1x1 g1 bias relu6 constant", "native/gemm"},
    {"conv F b* 8x8x8 -> 12 k1x1 s1x1 p0,0,0,0 d1x1 g1 bias relu constant", "native/gemm"},
    {"conv F b8 1x8x8 -> 8 k3x3 s1x1 p1,1,1,1 d1x1 g1 t1", "native/gemm"},
    {"conv F b8 8x8x8 -> 12 k1x1 s1x1 p0,0,0,0 d1x1 g1 t1", "native/gemm"},
    {"conv CD b8 8x8x8 -> 12 k1x1 s1x1 p0,0,0,0 d1x1 g1 t1", "native/gemm"},
    {"conv CG b8 1x8x8 -> 8 k3x3 s1x1 p1,1,1,1 d1x1 g1 t1", "native/gemm"},
    {"conv CG b8 8x8x8 -> 12 k1x1 s1x1 p0,0,0,0 d1x1 g1 t1", "native/gemm"},
};

bool has_recorded_arithmetic() {
#if defined(__x86_64__)
  const std::string core = openblas_get_corename();
  return (core == "Haswell" || core == "Zen") && __builtin_cpu_supports("avx2") &&
         !__builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

struct Recorded {
  const char* name;
  Json changes;
  std::uint64_t weights;
};

void PrintTo(const Recorded& recorded, std::ostream* out) { *out << recorded.name; }

class RecordedNight : public ::testing::TestWithParam<Recorded> {};

TEST_P(RecordedNight, EndsInTheSameBits) {
  MOIL_NEEDS_BOTH_BUILDS();
  if (!has_recorded_arithmetic()) GTEST_SKIP() << "the hashes are of AVX2 arithmetic";
  JobPlace place;
  save_kernel_profile(place.layout().kernel_profile(), {kRecorded, {}});
  Json description = place.description();
  description["threads"] = 1;
  description.merge_patch(GetParam().changes);
  const JobTrace night = place.run(place.submitted(description));
  for (const auto& [step, kernel] : night.choices.at("kernels").items())
    EXPECT_EQ(kernel, "native/gemm") << step << " was measured anew";
  EXPECT_EQ(hash64(night.weights), GetParam().weights);
}

INSTANTIATE_TEST_SUITE_P(
    All, RecordedNight,
    ::testing::Values(Recorded{"whole", Json::object(), 5351426459767555725U},
                      Recorded{
                          "head",
                          {{"freeze", {{"trainable_layers", 1}}}, {"cache", {{"dtype", "bf16"}}}},
                          15756852775259581071U},
                      Recorded{"views",
                               {{"augment", {{"views", 3}}},
                                {"train", {{"distill", 0.5}, {"optimizer", {{"type", "adam"}}}}}},
                               2423166048236391977U}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace moil::night
