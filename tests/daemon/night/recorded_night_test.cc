// The same job, seed, recorded kernels and data end in the same bits, from build to build. A change
// of these hashes is a change of every user's next night: it needs a reason.
#include <cblas.h>
#include <gmock/gmock.h>
#include <hwy/targets.h>
#include <stdlib.h>

#include <map>

#include "base/hash.h"
#include "daemon/night/plan/kernel_profile.h"
#include "engine/kernels/multiply_adds.h"
#include "tests/daemon/night/job_place.h"
#include "tests/plain_build.h"

namespace moil::night {
namespace {

// Kernels that every device has, in place of those that it would measure: what is left that decides
// the bits is what arithmetic() names.
const KernelChoices kRecorded = {
    {"conv F b* 1x8x8 -> 8 k3x3 s1x1 p1,1,1,1 d1x1 g1 bias relu6 constant", "native/gemm"},
    {"conv F b* 8x8x8 -> 12 k1x1 s1x1 p0,0,0,0 d1x1 g1 bias relu constant", "native/gemm"},
    {"conv F b8 1x8x8 -> 8 k3x3 s1x1 p1,1,1,1 d1x1 g1 t1", "native/gemm"},
    {"conv F b8 8x8x8 -> 12 k1x1 s1x1 p0,0,0,0 d1x1 g1 t1", "native/gemm"},
    {"conv CD b8 8x8x8 -> 12 k1x1 s1x1 p0,0,0,0 d1x1 g1 t1", "native/gemm"},
    {"conv CG b8 1x8x8 -> 8 k3x3 s1x1 p1,1,1,1 d1x1 g1 t1", "native/gemm"},
    {"conv CG b8 8x8x8 -> 12 k1x1 s1x1 p0,0,0,0 d1x1 g1 t1", "native/gemm"},
};

// The instruction set of our kernels, OpenBLAS's kernels and its release.
std::string arithmetic(const std::string& target, const std::string& core) {
  const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE ..."
  const std::size_t name = config.find(' ');
  return target + ", " + core + " of " + config.substr(0, config.find(' ', name + 1));
}

std::string arithmetic() { return arithmetic(vector_target(), openblas_get_corename()); }

struct Recorded {
  const char* name;
  Json changes;
  std::map<std::string, std::uint64_t> weights;  // by arithmetic
};

std::string not_recorded(const Recorded& recorded, const std::string& arithmetic,
                         std::uint64_t hash) {
  return "not recorded of \"" + std::string(recorded.name) + "\": {\"" + arithmetic + "\", " +
         std::to_string(hash) + "U}";
}

void PrintTo(const Recorded& recorded, std::ostream* out) { *out << recorded.name; }

// The hash of the weights that the night ends in.
std::uint64_t hash_of(const Recorded& recorded) {
  JobPlace place;
  save_kernel_profile(place.layout().kernel_profile(), {kRecorded, {}});
  Json description = place.description();
  description["threads"] = 1;
  description.merge_patch(recorded.changes);
  const JobTrace night = place.run(place.submitted(description));
  for (const auto& [step, kernel] : night.choices.at("kernels").items())
    EXPECT_EQ(kernel, "native/gemm") << step << " was measured anew";
  return hash64(night.weights);
}

// Ends the process, with 1 if this arithmetic has another hash than the recorded one.
[[noreturn]] void end_by_hash(const Recorded& recorded) {
  const std::uint64_t hash = hash_of(recorded);
  const auto known = recorded.weights.find(arithmetic());
  const bool is_known = known != recorded.weights.end();
  std::cerr << (is_known ? arithmetic() + ": " + std::to_string(hash)
                         : not_recorded(recorded, arithmetic(), hash))
            << "\n";
  ::_exit(is_known && known->second != hash ? 1 : 0);
}

class RecordedNight : public ::testing::TestWithParam<Recorded> {};

// By the arithmetic of this machine.
TEST_P(RecordedNight, EndsInTheSameBits) {
  MOIL_NEEDS_BOTH_BUILDS();
  const auto known = GetParam().weights.find(arithmetic());
  const std::uint64_t hash = hash_of(GetParam());
  if (known == GetParam().weights.end())
    GTEST_SKIP() << not_recorded(GetParam(), arithmetic(), hash);
  EXPECT_EQ(hash, known->second) << "with " << arithmetic();
}

#if defined(__x86_64__)
// So that every machine sees whether hashes hold: in a process that is told so before OpenBLAS
// looks which CPU there is.
TEST_P(RecordedNight, EndsInTheSameBitsByAvx2) {
  if (!(hwy::SupportedTargets() & HWY_AVX2)) GTEST_SKIP() << "this CPU has no AVX2";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv("OPENBLAS_CORETYPE", "Haswell", /*overwrite=*/1);
  std::string said;
  const auto is_ours = [&](const std::string& text) {
    said = text;
    return text.find("AVX2, Haswell") != std::string::npos;
  };
  EXPECT_EXIT(
      {
        // Lower bits are better instructions.
        hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(HWY_AVX2 - 1));
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        end_by_hash(GetParam());
      },
      ::testing::ExitedWithCode(0), ::testing::Truly(is_ours));
  ::unsetenv("OPENBLAS_CORETYPE");
  if (!GetParam().weights.contains(arithmetic("AVX2", "Haswell"))) GTEST_SKIP() << said;
}
#endif

INSTANTIATE_TEST_SUITE_P(
    All, RecordedNight,
    ::testing::Values(Recorded{"whole",
                               Json::object(),
                               {{"AVX2, Haswell of OpenBLAS 0.3.21", 16945320998385900271U},
                                {"AVX2, Prescott of OpenBLAS 0.3.21", 1353942144417218719U},
                                {"AVX3, Prescott of OpenBLAS 0.3.21", 14482664094804018055U}}},
                      Recorded{
                          "head",
                          {{"freeze", {{"trainable_layers", 1}}}, {"cache", {{"dtype", "bf16"}}}},
                          {{"AVX2, Haswell of OpenBLAS 0.3.21", 14654146179543086134U},
                           {"AVX2, Prescott of OpenBLAS 0.3.21", 8484948789020694790U},
                           {"AVX3, Prescott of OpenBLAS 0.3.21", 6923969301990536610U}}},
                      Recorded{"views",
                               {{"augment", {{"views", 3}}},
                                {"train", {{"distill", 0.5}, {"optimizer", {{"type", "adam"}}}}}},
                               {{"AVX2, Haswell of OpenBLAS 0.3.21", 16037009866182643993U},
                                {"AVX2, Prescott of OpenBLAS 0.3.21", 10353547872657989905U},
                                {"AVX3, Prescott of OpenBLAS 0.3.21", 4838173442706166366U}}}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace moil::night
