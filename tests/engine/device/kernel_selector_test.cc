#include "engine/device/kernel_selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/kernels/parallel.h"
#include "tests/engine/device/conv_reference.h"

namespace moil {
namespace {

using test::shape;
using testing::HasSubstr;

const ConvShape kShape = shape(4, 16, 14, 14, 32, 3, 1, 1);

KernelSelector::Options unmeasured() {
  KernelSelector::Options options;
  options.measure = false;
  return options;
}

template <class Fn>
std::string error_of(ErrorCode code, const Fn& fn) {
  try {
    fn();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return {};
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
  // Whatever was recorded is used, also where it is not what would be chosen.
  for (const auto& candidate : first.candidates(kShape, ConvStep::kGradient)) {
    KernelChoices choices = first.choices();
    choices.begin()->second = candidate->name();
    KernelSelector second({}, choices);
    EXPECT_EQ(second.conv(kShape, ConvStep::kGradient)->name(), candidate->name());
    EXPECT_EQ(second.choices(), choices);
  }
}

// So that what is recorded costs no making of what is not used.
TEST(KernelSelector, AProcessorMakesTheNamedOneAlone) {
  for (const ConvShape& s : {kShape, shape(2, 16, 9, 9, 16, 3, 1, 1, 16)}) {
    for (const ConvStep step : {ConvStep::kForward, ConvStep::kGradient, ConvStep::kDerivative}) {
      for (const Processor* processor : processors()) {
        for (const auto& kernel : processor->candidates(s, step, {}, false, std::nullopt)) {
          const auto alone = processor->candidates(s, step, {}, false, kernel->name());
          ASSERT_EQ(alone.size(), 1U) << kernel->name();
          EXPECT_EQ(alone[0]->name(), kernel->name());
        }
        for (const char* name : {"", "native", "nobody/nothing"})
          EXPECT_TRUE(processor->candidates(s, step, {}, false, name).empty()) << name;
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

TEST(KernelSelector, ARecordedKernelThatIsNotThereIsRefused) {
  KernelSelector first(unmeasured());
  (void)first.conv(kShape, ConvStep::kForward);
  KernelChoices choices = first.choices();
  choices.begin()->second = "abacus/gemm";
  KernelSelector second({}, choices);
  EXPECT_THAT(error_of(ErrorCode::kFailedPrecondition,
                       [&] { (void)second.conv(kShape, ConvStep::kForward); }),
              HasSubstr("abacus/gemm"));
}

TEST(KernelSelector, AnUnknownProcessorIsRefused) {
  KernelSelector::Options options;
  options.processors = {"abacus"};
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, [&] { KernelSelector selector(options); }),
              HasSubstr("it has: native"));
}

TEST(KernelSelector, OnlyAllowedProcessorsAreOffered) {
  KernelSelector::Options options = unmeasured();
  options.processors = {"native"};
  KernelSelector selector(options);
  for (const auto& kernel : selector.candidates(kShape, ConvStep::kForward))
    EXPECT_THAT(std::string(kernel->name()), testing::StartsWith("native/"));
  options.processors = {"openblas"};
  EXPECT_THAT(
      error_of(ErrorCode::kFailedPrecondition,
               [&] {
                 KernelSelector blas(options);
                 (void)blas.conv(kShape, ConvStep::kForward, {false, FusedActivation::kNone, true});
               }),
      HasSubstr("none of the allowed processors"));
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

TEST(KernelSelector, NativeWorkspaceIsBounded) {
  KernelSelector::Options options = unmeasured();
  options.processors = {"native"};
  KernelSelector selector(options);
  // The whole im2col matrix would be 462 MB.
  const ConvShape big = shape(64, 64, 56, 56, 64, 3, 1, 1);
  for (const ConvStep step : {ConvStep::kForward, ConvStep::kGradient, ConvStep::kDerivative})
    EXPECT_LT(selector.conv(big, step)->workspace_bytes(),
              (std::size_t{2} << 20) * static_cast<std::size_t>(thread_count()));
}

TEST(KernelSelector, ImpossibleShapesAreRefused) {
  KernelSelector selector;
  const auto refused = [&](const ConvShape& s) {
    return error_of(ErrorCode::kInvalidArgument,
                    [&] { (void)selector.conv(s, ConvStep::kForward); });
  };
  EXPECT_THAT(refused(shape(1, 3, 4, 4, 8, 5)), HasSubstr("larger than the padded input"));
  EXPECT_THAT(refused(shape(1, 3, 4, 4, 8, 3, 1, 1, 2)), HasSubstr("not divisible by groups"));
  EXPECT_THAT(refused(shape(1, 3, 4, 4, 8, 3, 0)), HasSubstr("at least 1"));
  EXPECT_THAT(refused(shape(1, 3, 4, 4, 8, 3, 1, -1)), HasSubstr("padding"));
}

}  // namespace
}  // namespace moil
