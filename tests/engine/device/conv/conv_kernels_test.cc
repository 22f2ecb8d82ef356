// Every kernel of every provider against the definition of convolution.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "engine/device/conv/kernel_selector.h"
#include "engine/kernels/parallel.h"
#include "tests/engine/device/conv/conv_reference.h"
#include "tests/engine/kernels/instruction_sets.h"

namespace moil {
namespace {

using test::AlignedBytes;
using test::awkward_shapes;
using test::ConvReference;
using test::difference;
using test::Floats;
using test::for_each_instruction_set;
using test::random_floats;
using test::shape;

// One shape with its tensors.
struct ConvCase {
  ConvShape s;
  std::vector<float> x, w, bias, dy;

  explicit ConvCase(const ConvShape& of)
      : s(of),
        x(random_floats(s.in_elements(), 1)),
        w(random_floats(s.weight_elements(), 2)),
        bias(random_floats(s.out_channels, 3)),
        dy(random_floats(s.out_elements(), 4)) {}
  ConvReference reference() const { return {s, x, w, bias, dy}; }
};

// What a step writes, from garbage: outputs, workspace and packed weights start as NaN.
void fill_with_garbage(std::byte* data, std::size_t bytes) {
  std::fill_n(data, bytes, std::byte{0xFF});
}

std::vector<float> run_forward(const ConvKernel& kernel, const ConvCase& c, bool bias) {
  const Floats x(c.x), w(c.w), b(c.bias), y(static_cast<std::size_t>(c.s.out_elements()));
  const AlignedBytes workspace(kernel.workspace_bytes()), packed(kernel.packed_weight_bytes());
  fill_with_garbage(workspace.get(), kernel.workspace_bytes());
  fill_with_garbage(packed.get(), kernel.packed_weight_bytes());
  ConvArgs args;
  args.input = x.get();
  args.weights = w.get();
  args.bias = bias ? b.get() : nullptr;
  args.output = y.get();
  args.workspace = workspace.get();
  if (kernel.packed_weight_bytes() > 0) {
    kernel.pack(w.get(), packed.get());
    args.weights = nullptr;
    args.packed = packed.get();
  }
  std::fill_n(y.get(), c.s.out_elements(), NAN);
  kernel.run(args);
  return y.values();
}

// The weights' gradient, or the input's derivative.
std::vector<float> run_backward(const ConvKernel& kernel, const ConvCase& c, ConvStep step) {
  const Floats x(c.x), w(c.w), dy(c.dy), dx(c.x.size()), dw(c.w.size());
  const AlignedBytes workspace(kernel.workspace_bytes());
  fill_with_garbage(workspace.get(), kernel.workspace_bytes());
  std::fill_n(dx.get(), c.x.size(), NAN);
  std::fill_n(dw.get(), c.w.size(), NAN);
  ConvArgs args;
  args.output_derivative = dy.get();
  args.workspace = workspace.get();
  if (step == ConvStep::kGradient) {
    args.input = x.get();
    args.weight_gradient = dw.get();
  } else {
    args.weights = w.get();
    args.input_derivative = dx.get();
  }
  kernel.run(args);
  return step == ConvStep::kGradient ? dw.values() : dx.values();
}

std::vector<double> activated(std::vector<double> values, FusedActivation activation) {
  for (double& v : values) {
    if (activation != FusedActivation::kNone) v = std::max(0.0, v);
    if (activation == FusedActivation::kRelu6) v = std::min(6.0, v);
  }
  return values;
}

// Winograd rounds more.
double tolerance(const ConvKernel& kernel) {
  return kernel.name().find("winograd") == std::string_view::npos ? 1e-5 : 1e-4;
}

// Every kernel that there is for the step computes what the definition says.
void expect_the_definition(const KernelSelector& selector, const ConvCase& c, ConvStep step,
                           const ConvFusion& fusion = {}) {
  const ConvReference reference = c.reference();
  const auto kernels = selector.candidates(c.s, step, fusion);
  ASSERT_FALSE(kernels.empty());
  const std::vector<double> expected = step == ConvStep::kForward
                                           ? activated(reference.output, fusion.activation)
                                       : step == ConvStep::kGradient ? reference.weight_gradient
                                                                     : reference.input_derivative;
  for (const auto& kernel : kernels) {
    const auto found = step == ConvStep::kForward ? run_forward(*kernel, c, fusion.bias)
                                                  : run_backward(*kernel, c, step);
    EXPECT_LT(difference(found, expected), tolerance(*kernel))
        << kernel->name() << " " << c.s.to_string() << (fusion.constant_weights ? " constant" : "");
  }
}

class ConvKernels : public ::testing::TestWithParam<std::size_t> {
 protected:
  ConvShape current() const { return awkward_shapes()[GetParam()]; }
  KernelSelector selector_;
};
INSTANTIATE_TEST_SUITE_P(Awkward, ConvKernels,
                         ::testing::Range<std::size_t>(0, awkward_shapes().size()),
                         [](const auto& test) { return "shape" + std::to_string(test.param); });

TEST_P(ConvKernels, ForwardIsTheDefinition) {
  const ConvCase c(current());
  for (const bool constant : {false, true})
    for (const auto activation :
         {FusedActivation::kNone, FusedActivation::kRelu, FusedActivation::kRelu6})
      expect_the_definition(selector_, c, ConvStep::kForward, {true, activation, constant});
}

TEST_P(ConvKernels, ForwardWithoutBias) {
  ConvCase c(current());
  std::fill(c.bias.begin(), c.bias.end(), 0.0F);
  expect_the_definition(selector_, c, ConvStep::kForward);
}

TEST_P(ConvKernels, DerivativeIsTheDefinition) {
  expect_the_definition(selector_, ConvCase(current()), ConvStep::kDerivative);
}

TEST_P(ConvKernels, GradientIsTheDefinitionAndAccumulates) {
  const ConvCase c(current());
  const ConvReference reference = c.reference();
  const auto kernels = selector_.candidates(c.s, ConvStep::kGradient, {true});
  ASSERT_FALSE(kernels.empty());
  for (const auto& kernel : kernels) {
    const Floats x(c.x), dy(c.dy), dw(c.w.size()), db(c.bias.size());
    const AlignedBytes workspace(kernel->workspace_bytes());
    ConvArgs args;
    args.input = x.get();
    args.output_derivative = dy.get();
    args.weight_gradient = dw.get();
    args.bias_gradient = db.get();
    args.workspace = workspace.get();
    fill_with_garbage(workspace.get(), kernel->workspace_bytes());
    std::fill_n(dw.get(), c.w.size(), NAN);
    std::fill_n(db.get(), c.bias.size(), NAN);
    kernel->run(args);
    EXPECT_LT(difference(dw.values(), reference.weight_gradient), tolerance(*kernel))
        << kernel->name() << " " << c.s.to_string();
    EXPECT_LT(difference(db.values(), reference.bias_gradient), 1e-5) << kernel->name();
    args.accumulate = true;
    kernel->run(args);
    std::vector<double> twice_w = reference.weight_gradient, twice_b = reference.bias_gradient;
    for (double& v : twice_w) v *= 2;
    for (double& v : twice_b) v *= 2;
    EXPECT_LT(difference(dw.values(), twice_w), tolerance(*kernel)) << kernel->name();
    EXPECT_LT(difference(db.values(), twice_b), 1e-5) << kernel->name();
  }
}

// A sample's result is the same bits alone, and at any place of any batch.
TEST_P(ConvKernels, WithConstantWeightsASampleDoesNotDependOnItsBatch) {
  ConvShape s = current();
  s.batch = 7;
  ConvCase all(s);
  const ConvFusion fusion{true, FusedActivation::kRelu6, true};
  const auto in = static_cast<std::ptrdiff_t>(s.in_elements() / s.batch);
  const auto out = static_cast<std::ptrdiff_t>(s.out_elements() / s.batch);
  for (const auto& kernel : selector_.candidates(s, ConvStep::kForward, fusion)) {
    const std::vector<float> y = run_forward(*kernel, all, true);
    for (const std::int64_t batch : {1, 2, 5}) {
      ConvShape small = s;
      small.batch = batch;
      ConvCase some(small);
      some.w = all.w, some.bias = all.bias;
      // The samples 6, 5, ... in the small batch's places 0, 1, ...
      for (std::ptrdiff_t i = 0; i < batch; ++i)
        std::copy_n(all.x.begin() + (6 - i) * in, in, some.x.begin() + i * in);
      bool found = false;
      for (const auto& same : selector_.candidates(small, ConvStep::kForward, fusion)) {
        if (same->name() != kernel->name()) continue;
        found = true;
        const std::vector<float> z = run_forward(*same, some, true);
        for (std::ptrdiff_t i = 0; i < batch; ++i)
          EXPECT_TRUE(
              std::equal(z.begin() + i * out, z.begin() + (i + 1) * out, y.begin() + (6 - i) * out))
              << kernel->name() << " " << small.to_string() << " sample " << i;
      }
      EXPECT_TRUE(found) << kernel->name() << " is not offered for " << small.to_string();
    }
  }
}

TEST_P(ConvKernels, OurCodeIsRightOnEveryInstructionSet) {
  const ConvCase c(current());
  KernelSelector::Options options;
  options.providers = {"native"};
  const KernelSelector native(options);
  for_each_instruction_set([&](const char* target) {
    SCOPED_TRACE(target);
    for (const bool constant : {false, true})
      expect_the_definition(native, c, ConvStep::kForward,
                            {true, FusedActivation::kNone, constant});
    for (const ConvStep step : {ConvStep::kGradient, ConvStep::kDerivative})
      expect_the_definition(native, c, step);
  });
}

// Large enough for tiles, panels and threads to matter.
TEST(ConvKernelsLarge, AllStepsAgreeWithTheDefinition) {
  const KernelSelector selector;
  for (const ConvShape& s :
       {shape(3, 40, 33, 31, 72, 3, 1, 1), shape(2, 130, 20, 20, 70, 1),
        shape(2, 64, 17, 17, 48, 3, 2, 1), shape(2, 96, 40, 40, 96, 3, 2, 1, 96),
        shape(1, 600, 9, 9, 20, 3, 1, 1)}) {
    const ConvCase c(s);
    expect_the_definition(selector, c, ConvStep::kForward, {true});
    for (const ConvStep step : {ConvStep::kGradient, ConvStep::kDerivative})
      expect_the_definition(selector, c, step);
  }
}

TEST(ConvKernelsRepeat, TheSameBitsInEveryRun) {
  const ConvCase c(shape(4, 24, 28, 28, 56, 3, 1, 1));
  KernelSelector selector;
  for (const auto& kernel : selector.candidates(c.s, ConvStep::kGradient)) {
    std::vector<float> first;
    for (int run = 0; run < 5; ++run) {
      const std::vector<float> gradient = run_backward(*kernel, c, ConvStep::kGradient);
      if (run == 0) first = gradient;
      EXPECT_EQ(gradient, first) << kernel->name();
    }
  }
}

// Memory behind a kernel's workspace belongs to somebody else.
bool writes_beyond_workspace(const ConvKernel& kernel, const ConvCase& c) {
  constexpr std::size_t kBehind = 16 * 1024;
  const Floats x(c.x), w(c.w), b(c.bias), dy(c.dy), dx(c.x.size()), dw(c.w.size()),
      db(c.bias.size()), y(static_cast<std::size_t>(c.s.out_elements()));
  const AlignedBytes workspace(kernel.workspace_bytes() + kBehind);
  fill_with_garbage(workspace.get(), kernel.workspace_bytes() + kBehind);
  ConvArgs args;
  args.input = x.get();
  args.weights = w.get();
  args.bias = b.get();
  args.output = y.get();
  args.output_derivative = dy.get();
  args.input_derivative = dx.get();
  args.weight_gradient = dw.get();
  args.bias_gradient = db.get();
  args.workspace = workspace.get();
  kernel.run(args);
  const std::byte* behind = workspace.get() + kernel.workspace_bytes();
  return std::any_of(behind, behind + kBehind, [](std::byte v) { return v != std::byte{0xFF}; });
}

TEST(ConvKernelsWorkspace, IsAllThatAKernelWritesTo) {
  std::vector<ConvShape> shapes = {
      shape(64, 512, 2, 2, 512, 3, 1, 1), shape(16, 512, 4, 4, 512, 3, 1, 1),
      shape(8, 160, 7, 7, 96, 3, 2, 1), shape(4, 64, 32, 32, 64, 3, 1, 1)};
  std::mt19937 random(1);
  const auto one_of = [&](std::initializer_list<std::int64_t> list) {
    return list.begin()[random() % list.size()];
  };
  for (int i = 0; i < 30; ++i)
    shapes.push_back(shape(one_of({1, 3, 16}), one_of({3, 17, 64, 200, 384}), one_of({1, 5, 14}),
                           one_of({2, 9}), one_of({8, 33, 128}), one_of({1, 3, 5}), one_of({1, 2}),
                           2));
  KernelSelector selector;
  for (const ConvShape& s : shapes) {
    const ConvCase c(s);
    for (const ConvStep step : {ConvStep::kForward, ConvStep::kGradient, ConvStep::kDerivative})
      for (const auto& kernel : selector.candidates(s, step, {true}))
        EXPECT_FALSE(writes_beyond_workspace(*kernel, c)) << kernel->name() << " " << s.to_string();
  }
}

TEST(ConvKernelsNan, ANanIsNotHiddenByTheActivation) {
  ConvCase c(shape(1, 8, 5, 5, 8, 1));
  c.x[3] = NAN;
  KernelSelector::Options options;
  options.providers = {"native"};
  KernelSelector selector(options);
  for (const auto& kernel :
       selector.candidates(c.s, ConvStep::kForward, {false, FusedActivation::kRelu6, true}))
    EXPECT_TRUE(std::isnan(run_forward(*kernel, c, false)[0])) << kernel->name();
}

TEST(ConvKernelsThreads, AnotherThreadCountThanPlannedIsRefused) {
  const ConvCase c(shape(1, 8, 5, 5, 8, 1));
  const int threads = thread_count();
  KernelSelector selector;
  const auto kernels = selector.candidates(c.s, ConvStep::kForward);
  set_thread_count(threads + 1);
  for (const auto& kernel : kernels)
    EXPECT_THROW((void)run_forward(*kernel, c, false), Error) << kernel->name();
  set_thread_count(threads);
}

}  // namespace
}  // namespace moil
