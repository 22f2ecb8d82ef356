#include "engine/device/conv/kernel_selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/device/conv/measure.h"
#include "engine/kernels/parallel.h"
#include "tests/engine/device/conv/conv_reference.h"
#include "tests/errors.h"

namespace moil {
namespace {

using test::expect_error;
using test::shape;
using ::testing::HasSubstr;

const ConvShape kShape = shape(4, 16, 14, 14, 32, 3, 1, 1);

KernelSelector::Options unmeasured() {
  KernelSelector::Options options;
  options.measure = false;
  return options;
}

TEST(KernelSelector, MeasuresOnceAndRecords) {
  KernelSelector selector;
  const auto kernel = selector.conv(kShape, ConvStep::kForward);
  ASSERT_EQ(selector.choices().size(), 1U);
  const auto& [key, name] = *selector.choices().begin();
  EXPECT_EQ(name, kernel->name());
  EXPECT_THAT(key, HasSubstr("conv F b4 16x14x14 -> 32 k3x3"));
  EXPECT_THAT(key, HasSubstr(" t" + std::to_string(thread_count())));
  EXPECT_EQ(selector.conv(kShape, ConvStep::kForward)->name(), name);
  EXPECT_EQ(selector.choices().size(), 1U);
}

TEST(KernelSelector, ReplaysWhatWasRecorded) {
  KernelSelector first(unmeasured());
  (void)first.conv(kShape, ConvStep::kGradient);
  // Whatever was recorded is used, even if it is not what would be chosen.
  for (const auto& candidate : first.candidates(kShape, ConvStep::kGradient)) {
    KernelChoices choices = first.choices();
    choices.begin()->second = candidate->name();
    KernelSelector second({}, choices);
    EXPECT_EQ(second.conv(kShape, ConvStep::kGradient)->name(), candidate->name());
    EXPECT_EQ(second.choices(), choices);
  }
}

// So that what is recorded costs no making of what is not used.
TEST(KernelSelector, AProviderMakesTheNamedOneAlone) {
  for (const ConvShape& s : {kShape, shape(2, 16, 9, 9, 16, 3, 1, 1, 16)}) {
    for (const ConvStep step : {ConvStep::kForward, ConvStep::kGradient, ConvStep::kDerivative}) {
      for (const KernelProvider* provider : kernel_providers()) {
        for (const auto& kernel : provider->candidates(s, step, {}, false, std::nullopt)) {
          const auto alone = provider->candidates(s, step, {}, false, kernel->name());
          ASSERT_EQ(alone.size(), 1U) << kernel->name();
          EXPECT_EQ(alone[0]->name(), kernel->name());
        }
        for (const char* name : {"", "native", "nobody/nothing"})
          EXPECT_TRUE(provider->candidates(s, step, {}, false, name).empty()) << name;
      }
    }
  }
}

TEST(KernelSelector, StepsFusionsAndExactnessAreChosenApart) {
  KernelSelector selector(unmeasured());
  for (const ConvStep step : {ConvStep::kForward, ConvStep::kGradient, ConvStep::kDerivative})
    (void)selector.conv(kShape, step);
  (void)selector.conv(kShape, ConvStep::kForward, {true});
  (void)selector.conv(kShape, ConvStep::kForward, {true, FusedActivation::kRelu6, true});
  EXPECT_EQ(selector.choices().size(), 5U);
}

TEST(KernelSelector, OneChoiceForAllBatchesWhereWeightsAreConstant) {
  KernelSelector selector(unmeasured());
  ConvShape s = kShape;
  (void)selector.conv(s, ConvStep::kForward, {false, FusedActivation::kNone, true});
  s.batch = 1;
  (void)selector.conv(s, ConvStep::kForward, {false, FusedActivation::kNone, true});
  EXPECT_EQ(selector.choices().size(), 1U);
}

TEST(KernelSelector, WithoutMeasuringTheFirstCandidateIsTaken) {
  KernelSelector selector(unmeasured());
  EXPECT_EQ(selector.conv(kShape, ConvStep::kForward)->name(),
            selector.candidates(kShape, ConvStep::kForward)[0]->name());
}

TEST(KernelSelector, TimeThatIsOverTakesTheFirstCandidateAndKeepsItForMapsAlone) {
  MeasuringTime over(0);
  KernelSelector::Options options;
  options.time = &over;
  KernelSelector selector(options);
  const ConvFusion constant = {false, FusedActivation::kNone, true};
  for (const ConvFusion& fusion : {ConvFusion{}, constant}) {
    EXPECT_EQ(selector.conv(kShape, ConvStep::kForward, fusion)->name(),
              selector.candidates(kShape, ConvStep::kForward, fusion)[0]->name());
  }
  EXPECT_EQ(over.measured(), 0);
  EXPECT_EQ(over.untried(), 2);
  EXPECT_EQ(selector.choices().size(), 2U);  // a night that goes on computes the same
  ASSERT_EQ(selector.profile().size(), 1U);  // a later night measures the other
  EXPECT_THAT(selector.profile().begin()->first, HasSubstr("constant"));
}

TEST(KernelSelector, MeasuringIsCountedAndTold) {
  std::vector<double> told;
  MeasuringTime time(1000, [&](double seconds) { told.push_back(seconds); });
  KernelSelector::Options options;
  options.time = &time;
  KernelSelector first(options);
  (void)first.conv(kShape, ConvStep::kForward);
  (void)first.conv(kShape, ConvStep::kGradient);
  EXPECT_EQ(time.measured(), 2);
  EXPECT_EQ(time.untried(), 0);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_GT(told[0], 0);
  EXPECT_LT(told[0], told[1]);
  EXPECT_EQ(time.seconds(), told[1]);  // none passes while nothing is measured
  // What was kept is not measured again.
  KernelSelector later(options, {}, first.profile());
  (void)later.conv(kShape, ConvStep::kForward);
  EXPECT_EQ(time.measured(), 2);
}

TEST(KernelSelector, LargeBatchesAreMeasuredInPart) {
  const ConvShape large = shape(32, 64, 112, 112, 64, 3, 1, 1);  // 0.9 Gflop a sample
  const ConvFusion constant = {false, FusedActivation::kNone, true};
  EXPECT_EQ(measured_batch(large, constant), 2);
  EXPECT_GE(measured_batch(large, {}), 2 * std::min(thread_count(), 16));
  EXPECT_LE(measured_batch(large, {}), 32);
  EXPECT_EQ(measured_batch(kShape, {}), kShape.batch);
}

TEST(KernelSelector, AChoiceForConstantWeightsIsOneForAllThreadCounts) {
  const int before = thread_count();
  const ConvFusion constant = {false, FusedActivation::kNone, true};
  KernelSelector one(unmeasured()), two(unmeasured());
  set_thread_count(1);
  (void)one.conv(kShape, ConvStep::kForward, constant);
  (void)one.conv(kShape, ConvStep::kForward);
  set_thread_count(2);
  (void)two.conv(kShape, ConvStep::kForward, constant);
  (void)two.conv(kShape, ConvStep::kForward);
  set_thread_count(before);
  std::size_t same = 0;
  for (const auto& [key, name] : one.choices()) same += two.choices().count(key);
  EXPECT_EQ(same, 1U);
}

TEST(KernelSelector, ARecordedKernelThatIsNotThereIsRefused) {
  KernelSelector first(unmeasured());
  (void)first.conv(kShape, ConvStep::kForward);
  KernelChoices choices = first.choices();
  choices.begin()->second = "abacus/gemm";
  KernelSelector second({}, choices);
  expect_error(ErrorCode::kFailedPrecondition, "abacus/gemm",
               [&] { (void)second.conv(kShape, ConvStep::kForward); });
}

TEST(KernelSelector, AnUnknownProviderIsRefused) {
  KernelSelector::Options options;
  options.providers = {"abacus"};
  expect_error(ErrorCode::kInvalidArgument, "it has: native",
               [&] { KernelSelector selector(options); });
}

TEST(KernelSelector, OnlyAllowedProvidersAreOffered) {
  KernelSelector::Options options = unmeasured();
  options.providers = {"native"};
  KernelSelector selector(options);
  for (const auto& kernel : selector.candidates(kShape, ConvStep::kForward))
    EXPECT_THAT(std::string(kernel->name()), ::testing::StartsWith("native/"));
  options.providers = {"openblas"};
  expect_error(ErrorCode::kFailedPrecondition, "none of the allowed providers", [&] {
    KernelSelector blas(options);
    (void)blas.conv(kShape, ConvStep::kForward, {false, FusedActivation::kNone, true});
  });
}

TEST(KernelSelector, ExactArithmeticHasNoWinograd) {
  KernelSelector::Options options = unmeasured();
  options.exact_arithmetic = true;
  KernelSelector selector(options);
  for (const ConvStep step : {ConvStep::kForward, ConvStep::kGradient, ConvStep::kDerivative})
    for (const auto& kernel : selector.candidates(kShape, step))
      EXPECT_EQ(std::string(kernel->name()).find("winograd"), std::string::npos);
}

TEST(KernelSelector, WorkspaceIsLimited) {
  KernelSelector free(unmeasured());
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const auto& kernel : free.candidates(kShape, ConvStep::kForward))
    least = std::min(least, kernel->workspace_bytes());
  for (const std::size_t limit : {least, std::size_t{0}}) {
    KernelSelector::Options options = unmeasured();
    options.max_workspace_bytes = limit;
    KernelSelector selector(options);
    EXPECT_EQ(selector.conv(kShape, ConvStep::kForward)->workspace_bytes(), least);
  }
}

// Each kernel is recorded with room, then asked for under every limit below its need.
TEST(KernelSelector, ARecordedKernelGivesWayWhereItDoesNotFit) {
  int gave_way = 0;
  for (const ConvStep step : {ConvStep::kForward, ConvStep::kGradient, ConvStep::kDerivative}) {
    KernelSelector all(unmeasured());
    const auto candidates = all.candidates(kShape, step);
    (void)all.conv(kShape, step);
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const auto& kernel : candidates) least = std::min(least, kernel->workspace_bytes());
    for (const auto& kernel : candidates) {
      KernelChoices choices = all.choices();
      choices.begin()->second = kernel->name();
      KernelSelector measuring({}, choices), resumed(unmeasured(), choices);
      for (std::size_t limit = 1; limit < kernel->workspace_bytes(); limit *= 2) {
        const auto taken = measuring.conv(kShape, step, {}, limit);
        EXPECT_LE(taken->workspace_bytes(), std::max(limit, least)) << kernel->name();
        EXPECT_EQ(resumed.conv(kShape, step, {}, limit)->name(), taken->name());
        ++gave_way;
      }
      EXPECT_EQ(measuring.conv(kShape, step)->name(), kernel->name());  // with room it is back
      EXPECT_EQ(measuring.choices(), choices);
    }
  }
  EXPECT_GT(gave_way, 0);
}

TEST(KernelSelector, ARecordedKernelOfConstantWeightsIsUsedWhateverItNeeds) {
  const ConvFusion constant = {false, FusedActivation::kNone, true};
  KernelSelector all(unmeasured());
  (void)all.conv(kShape, ConvStep::kForward, constant);
  for (const auto& kernel : all.candidates(kShape, ConvStep::kForward, constant)) {
    KernelChoices choices = all.choices();
    choices.begin()->second = kernel->name();
    KernelSelector selector({}, choices);
    EXPECT_EQ(selector.conv(kShape, ConvStep::kForward, constant, 1)->name(), kernel->name());
  }
}

TEST(KernelSelector, NativeWorkspaceIsBounded) {
  KernelSelector::Options options = unmeasured();
  options.providers = {"native"};
  KernelSelector selector(options);
  // The whole im2col matrix would be 462 MB.
  const ConvShape big = shape(64, 64, 56, 56, 64, 3, 1, 1);
  for (const ConvStep step : {ConvStep::kForward, ConvStep::kGradient, ConvStep::kDerivative})
    EXPECT_LT(selector.conv(big, step)->workspace_bytes(),
              (std::size_t{2} << 20) * static_cast<std::size_t>(thread_count()));
}

TEST(KernelSelector, ImpossibleShapesAreRefused) {
  KernelSelector selector;
  const auto expect_refused = [&](const std::string& why, const ConvShape& s) {
    expect_error(ErrorCode::kInvalidArgument, why,
                 [&] { (void)selector.conv(s, ConvStep::kForward); });
  };
  expect_refused("larger than the padded input", shape(1, 3, 4, 4, 8, 5));
  expect_refused("not divisible by groups", shape(1, 3, 4, 4, 8, 3, 1, 1, 2));
  expect_refused("at least 1", shape(1, 3, 4, 4, 8, 3, 0));
  expect_refused("padding", shape(1, 3, 4, 4, 8, 3, 1, -1));
}

}  // namespace
}  // namespace moil
