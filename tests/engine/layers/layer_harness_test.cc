// The harness must catch layers that break their word.
#include "tests/engine/layers/layer_harness.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "engine/layers/factory.h"

namespace moil::test {
namespace {

enum class Fault {
  kNone,
  kReadsInput,
  kWrongDerivative,
  kWritesBehind,
  kNotInPlace,
  kReadsScratch
};

// y = x^2, with one fault.
class Square final : public Layer {
 public:
  explicit Square(Fault fault) : fault_(fault) {}
  std::string_view type() const override { return "square"; }
  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    return {inputs[0]};
  }
  LayerPlan plan(const LayerSetup& setup) override {
    count_ = static_cast<std::size_t>(setup.inputs[0].dims.elements());
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    if (fault_ != Fault::kReadsInput) plan.inputs[0] |= Lifespan::kComputeDerivative;
    plan.output_derivatives = Lifespan::kComputeDerivative;
    plan.derivative_workspace = sizeof(float);
    plan.derivative_in_place = InPlace::kModify;
    return plan;
  }
  void forward(const LayerRun& run) override {
    for (std::size_t i = 0; i < count_; ++i)
      run.outputs[0][i] = run.inputs[0][i] * run.inputs[0][i];
    if (fault_ == Fault::kWritesBehind) run.outputs[0][count_] = 1;
  }
  void compute_derivative(const LayerRun& run) override {
    const float factor = fault_ == Fault::kWrongDerivative ? 2.1F : 2.0F;
    float rest = fault_ == Fault::kReadsScratch ? *reinterpret_cast<float*>(run.workspace) : 0;
    for (std::size_t i = 0; i < count_; ++i) {
      run.input_derivatives[0][i] = factor * run.inputs[0][i] * run.output_derivatives[0][i] + rest;
      if (fault_ == Fault::kNotInPlace) rest = run.output_derivatives[0][0] * 1e-3F;
    }
  }

 private:
  const Fault fault_;
  std::size_t count_ = 0;
};

int failures(Fault fault) {
  register_layer("square", [fault](const std::string&, const Properties&) {
    return std::make_unique<Square>(fault);
  });
  ::testing::TestPartResultArray results;
  {
    ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    expect_gradients({"square", {}, {Dims{3, 7}}});
  }
  return results.size();
}

TEST(LayerHarness, CatchesLayersThatBreakTheirWord) {
  EXPECT_EQ(failures(Fault::kNone), 0);
  EXPECT_GT(failures(Fault::kReadsInput), 0);
  EXPECT_GT(failures(Fault::kWrongDerivative), 0);
  EXPECT_GT(failures(Fault::kWritesBehind), 0);
  EXPECT_GT(failures(Fault::kNotInPlace), 0);
  EXPECT_GT(failures(Fault::kReadsScratch), 0);
}

}  // namespace
}  // namespace moil::test
