// learned_clip: y is x held between a floor and a ceiling that is learned, one a channel (PACT,
// Choi et al. 2018).
#include <algorithm>

#include "engine/custom.h"
#include "tests/engine/custom/example.h"

namespace example {
namespace {

class LearnedClip final : public moil::Layer {
 public:
  explicit LearnedClip(float floor) : floor_(floor) {}

  std::string_view type() const override { return "learned_clip"; }

  std::vector<moil::TensorInfo> infer_outputs(
      std::span<const moil::TensorInfo> inputs) const override {
    moil::require_inputs(inputs, 1);
    return {inputs[0]};
  }

  std::vector<moil::WeightSpec> weights(std::span<const moil::TensorInfo> inputs) const override {
    moil::require_inputs(inputs, 1);
    moil::WeightSpec ceiling;
    ceiling.name = "ceiling";
    ceiling.dims = moil::Dims{moil::channels_of(inputs[0])};
    ceiling.init = moil::Initializer::kOnes;
    return {ceiling};
  }

  moil::LayerPlan plan(const moil::LayerSetup& setup) override;
  void forward(const moil::LayerRun& run) override;
  void compute_gradient(const moil::LayerRun& run) override;
  void compute_derivative(const moil::LayerRun& run) override;

 private:
  // Where an element lay: all that the backward steps need to know of the input.
  enum class Side : std::uint8_t { kBelow, kWithin, kAbove };

  std::int64_t rows_grain() const { return std::max<std::int64_t>(1, 4096 / channels_); }
  static Side* sides(const moil::LayerRun& run) { return reinterpret_cast<Side*>(run.saved[0]); }

  const float floor_;
  std::int64_t rows_ = 0, channels_ = 0;
  bool keeps_sides_ = false;
};

moil::LayerPlan LearnedClip::plan(const moil::LayerSetup& setup) {
  rows_ = moil::rows_of(setup.inputs[0]);
  channels_ = moil::channels_of(setup.inputs[0]);
  keeps_sides_ = setup.computes_gradient() || setup.computes_derivative();

  const auto backward = moil::Lifespan::kComputeGradient | moil::Lifespan::kComputeDerivative;
  moil::LayerPlan plan;
  plan.inputs = {moil::Lifespan::kForward};  // F alone reads x
  plan.outputs = {moil::Lifespan::kNone};    // and nothing of ours reads y
  plan.weights = moil::Lifespan::kNone;      // the ceilings are read in F
  plan.output_derivatives = backward;
  if (keeps_sides_) {
    const auto bytes = static_cast<std::size_t>(rows_ * channels_);
    plan.saved.push_back({"sides", bytes, moil::Lifespan::kForward | backward});
  }
  plan.gradient_workspace = static_cast<std::size_t>(channels_) * sizeof(double);
  plan.in_place = moil::InPlace::kModify;             // y may lie over x
  plan.derivative_in_place = moil::InPlace::kModify;  // and dx over dy
  return plan;
}

void LearnedClip::forward(const moil::LayerRun& run) {
  const float* ceiling = run.weights[0];
  moil::parallel_for(rows_, rows_grain(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin * channels_; i < end * channels_; ++i) {
      const float x = run.inputs[0][i], top = ceiling[i % channels_];
      const Side side = x >= top ? Side::kAbove : x <= floor_ ? Side::kBelow : Side::kWithin;
      run.outputs[0][i] = side == Side::kAbove ? top : side == Side::kBelow ? floor_ : x;
      if (keeps_sides_) sides(run)[i] = side;
    }
  });
}

// A ceiling's gradient is the sum of dy over the elements that it held down. Each thread has
// channels of its own and sums in the order of the rows: the same bits with any number of them.
void LearnedClip::compute_gradient(const moil::LayerRun& run) {
  const float* dy = run.output_derivatives[0];
  const Side* side = sides(run);
  auto* sums = reinterpret_cast<double*>(run.workspace);
  moil::parallel_for(channels_, 16, [&](std::int64_t begin, std::int64_t end) {
    std::fill(sums + begin, sums + end, 0.0);
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::int64_t c = begin; c < end; ++c) {
        if (side[row * channels_ + c] == Side::kAbove) sums[c] += dy[row * channels_ + c];
      }
    }
    for (std::int64_t c = begin; c < end; ++c) {
      float& gradient = run.gradients[0][c];
      gradient = static_cast<float>((run.adds(0) ? gradient : 0.0) + sums[c]);
    }
  });
}

void LearnedClip::compute_derivative(const moil::LayerRun& run) {
  const Side* side = sides(run);
  moil::parallel_for(rows_, rows_grain(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin * channels_; i < end * channels_; ++i)
      run.input_derivatives[0][i] = side[i] == Side::kWithin ? run.output_derivatives[0][i] : 0;
  });
}

std::unique_ptr<moil::Layer> make_learned_clip(const std::string& name,
                                               const moil::Properties& properties) {
  moil::PropertyReader reader(name, properties);
  const double floor = reader.number("floor", 0);
  reader.done();
  return std::make_unique<LearnedClip>(static_cast<float>(floor));
}

}  // namespace

void register_learned_clip() { moil::register_layer("learned_clip", make_learned_clip); }

}  // namespace example
