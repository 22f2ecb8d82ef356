// Batch normalisation by channel (the last axis in memory), type "batch_norm".
//
// y = gamma (x - mean) / sqrt(variance + epsilon) + beta. In training, mean and variance are the
// batch's, and the running ones follow: running += momentum (batch - running), the variance
// unbiased, as in PyTorch. With the property frozen, and at inference, the running ones are used
// and left alone (MoIL, LF).
//
// Properties: epsilon = 1e-5, momentum = 0.1, frozen = false.
// Weights: gamma, beta; the statistics running_mean, running_var.
// Backward with batch statistics reads the input; with running ones only gamma's gradient does.
#include "engine/kernels/rows/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

enum Weight : std::size_t { kGamma, kBeta, kRunningMean, kRunningVar };

class BatchNorm final : public Layer {
 public:
  BatchNorm(double epsilon, double momentum, bool frozen)
      : epsilon_(epsilon), momentum_(momentum), frozen_(frozen) {}

  std::string_view type() const override { return "batch_norm"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    channels_of(inputs[0]);
    if (inputs[0].dims.rank() == 4) require_image(inputs[0]);
    return {inputs[0]};
  }

  std::vector<WeightSpec> weights(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    const Dims dims{channels_of(inputs[0])};
    const auto spec = [&](const char* name, Initializer init, bool trainable) {
      WeightSpec weight;
      weight.name = name;
      weight.dims = dims;
      weight.init = init;
      weight.trainable = trainable;
      weight.decays = false;
      return weight;
    };
    return {spec("gamma", Initializer::kOnes, true), spec("beta", Initializer::kZeros, true),
            spec("running_mean", Initializer::kZeros, false),
            spec("running_var", Initializer::kOnes, false)};
  }

  LayerPlan plan(const LayerSetup& setup) override;
  Operation operation() const override {
    return operation::BatchNorm{shape_,       epsilon_,    momentum_,         batch_statistics_,
                                train_gamma_, train_beta_, keeps_statistics_, keeps_sums_};
  }
  void forward(const LayerRun& run) override;
  void compute_gradient(const LayerRun& run) override;
  void compute_derivative(const LayerRun& run) override;

 private:
  std::size_t channel_bytes(int arrays) const {
    return static_cast<std::size_t>(shape_.channels * arrays) * sizeof(float);
  }
  float* statistics(const LayerRun& run) const {
    return reinterpret_cast<float*>(run.saved[0]);  // mean, then 1 / deviation
  }
  float* saved_sums(const LayerRun& run) const {
    return reinterpret_cast<float*>(run.saved[1]);  // of dy, then of dy (x - mean)
  }
  float inverse_deviation(float variance) const {
    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(variance) + epsilon_));
  }
  // Channel c of y = x * scale + shift; the shifts lie behind the scales.
  void set_scale(const LayerRun& run, float mean, float inverse, std::int64_t c,
                 float* scale) const {
    scale[c] = run.weights[kGamma][c] * inverse;
    scale[shape_.channels + c] = run.weights[kBeta][c] - mean * scale[c];
  }
  void update_statistics(const LayerRun& run, float* mean, float* variance) const;
  void derivative_sums(const LayerRun& run, float* sums, std::byte* workspace) const;
  void write_gradients(const LayerRun& run, const float* sums) const;

  const double epsilon_, momentum_;
  const bool frozen_;

  RowShape shape_;
  bool batch_statistics_ = false;
  bool train_gamma_ = false, train_beta_ = false, derivative_ = false;
  bool keeps_statistics_ = false;  // saved[0] exists
  bool keeps_sums_ = false;        // saved[1] exists: CG leaves them to CD
  bool sums_need_input_ = false;
};

LayerPlan BatchNorm::plan(const LayerSetup& setup) {
  shape_ = {rows_of(setup.inputs[0]), channels_of(setup.inputs[0])};
  batch_statistics_ = setup.training && !frozen_;
  if (batch_statistics_ && shape_.rows == 1) {
    fail_shape("cannot train on one value a channel (" + setup.inputs[0].dims.to_string() +
               "): use a larger batch, or freeze it");
  }
  train_gamma_ = setup.train_weight[kGamma];
  train_beta_ = setup.train_weight[kBeta];
  derivative_ = setup.computes_derivative();
  const bool gradient = train_gamma_ || train_beta_;
  keeps_statistics_ = batch_statistics_ && (gradient || derivative_);
  keeps_sums_ = batch_statistics_ && gradient && derivative_;
  sums_need_input_ = train_gamma_ || (batch_statistics_ && derivative_);

  LayerPlan plan;
  plan.inputs = {Lifespan::kForward};
  plan.outputs = {Lifespan::kNone};
  if (gradient && sums_need_input_) plan.inputs[0] |= Lifespan::kComputeGradient;
  if (batch_statistics_ && derivative_) plan.inputs[0] |= Lifespan::kComputeDerivative;
  const Lifespan backward = Lifespan::kComputeGradient | Lifespan::kComputeDerivative;
  if (keeps_statistics_)
    plan.saved.push_back({"statistics", channel_bytes(2), Lifespan::kForward | backward});
  if (keeps_sums_) plan.saved.push_back({"sums", channel_bytes(2), backward});

  const std::size_t sums = channel_sums_workspace(shape_);
  plan.forward_workspace = channel_bytes(4) + (batch_statistics_ ? sums : 0);
  plan.gradient_workspace = sums + channel_bytes(2);
  plan.derivative_workspace = sums + channel_bytes(5);
  plan.weights = backward;
  plan.mixes_samples = plan.updates_statistics = batch_statistics_;
  plan.saves_statistics = keeps_statistics_;
  plan.in_place = plan.derivative_in_place = InPlace::kModify;
  return plan;
}

// Batch statistics into mean and variance; the running ones follow.
void BatchNorm::update_statistics(const LayerRun& run, float* mean, float* variance) const {
  channel_statistics(run.inputs[0], shape_, mean, variance, run.workspace);
  const auto rows = static_cast<double>(shape_.rows);
  const double unbiased = rows / (rows - 1);
  float* running_mean = run.weights[kRunningMean];
  float* running_var = run.weights[kRunningVar];
  const auto follow = [&](float& running, double batch) {
    running = static_cast<float>((1 - momentum_) * running + momentum_ * batch);
  };
  for (std::int64_t c = 0; c < shape_.channels; ++c) {
    follow(running_mean[c], mean[c]);
    follow(running_var[c], variance[c] * unbiased);
  }
}

void BatchNorm::forward(const LayerRun& run) {
  const std::int64_t channels = shape_.channels;
  float* scale = reinterpret_cast<float*>(run.workspace +
                                          (batch_statistics_ ? channel_sums_workspace(shape_) : 0));
  float* shift = scale + channels;
  const float* mean = run.weights[kRunningMean];
  const float* variance = run.weights[kRunningVar];
  if (run.again && keeps_statistics_) {
    mean = statistics(run);
    for (std::int64_t c = 0; c < channels; ++c)
      set_scale(run, mean[c], mean[channels + c], c, scale);
    return scale_channels(run.inputs[0], scale, shift, run.outputs[0], shape_);
  }
  if (batch_statistics_) {
    float* own = keeps_statistics_ ? statistics(run) : shift + channels;
    update_statistics(run, own, own + channels);
    mean = own;
    variance = own + channels;
  }
  for (std::int64_t c = 0; c < channels; ++c) {
    const float inverse = inverse_deviation(variance[c]);
    set_scale(run, mean[c], inverse, c, scale);
    if (keeps_statistics_) statistics(run)[channels + c] = inverse;
  }
  scale_channels(run.inputs[0], scale, shift, run.outputs[0], shape_);
}

void BatchNorm::derivative_sums(const LayerRun& run, float* sums, std::byte* workspace) const {
  const float* mean = batch_statistics_ ? statistics(run) : run.weights[kRunningMean];
  channel_derivative_sums(sums_need_input_ ? run.inputs[0] : nullptr, mean,
                          run.output_derivatives[0], shape_, sums, sums + shape_.channels,
                          workspace);
}

void BatchNorm::write_gradients(const LayerRun& run, const float* sums) const {
  const std::int64_t channels = shape_.channels;
  const auto write = [&](Weight w, std::int64_t c, float value) {
    float* gradient = run.gradients[w];
    gradient[c] = run.adds(w) ? gradient[c] + value : value;
  };
  for (std::int64_t c = 0; c < channels; ++c) {
    if (train_beta_) write(kBeta, c, sums[c]);
    if (!train_gamma_) continue;
    const float inverse = batch_statistics_ ? statistics(run)[channels + c]
                                            : inverse_deviation(run.weights[kRunningVar][c]);
    write(kGamma, c, sums[channels + c] * inverse);
  }
}

void BatchNorm::compute_gradient(const LayerRun& run) {
  float* sums = keeps_sums_
                    ? saved_sums(run)
                    : reinterpret_cast<float*>(run.workspace + channel_sums_workspace(shape_));
  derivative_sums(run, sums, run.workspace);
  write_gradients(run, sums);
}

void BatchNorm::compute_derivative(const LayerRun& run) {
  const std::int64_t channels = shape_.channels;
  float* scale = reinterpret_cast<float*>(run.workspace + channel_sums_workspace(shape_));
  const float* gamma = run.weights[kGamma];
  if (!batch_statistics_) {
    for (std::int64_t c = 0; c < channels; ++c)
      scale[c] = gamma[c] * inverse_deviation(run.weights[kRunningVar][c]);
    scale_channels(run.output_derivatives[0], scale, nullptr, run.input_derivatives[0], shape_);
    return;
  }
  float* offset = scale + channels;
  float* slope = offset + channels;
  float* sums = keeps_sums_ ? saved_sums(run) : slope + channels;
  if (!keeps_sums_) derivative_sums(run, sums, run.workspace);
  const float* mean = statistics(run);
  const float* inverse = mean + channels;
  const auto rows = static_cast<float>(shape_.rows);
  for (std::int64_t c = 0; c < channels; ++c) {
    scale[c] = gamma[c] * inverse[c];
    offset[c] = sums[c] / rows;
    slope[c] = sums[channels + c] / rows * inverse[c] * inverse[c];
  }
  normalised_derivative(run.inputs[0], run.output_derivatives[0], run.input_derivatives[0], scale,
                        offset, mean, slope, shape_);
}

}  // namespace

std::unique_ptr<Layer> make_batch_norm(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  const double epsilon = reader.number("epsilon", 1e-5);
  const double momentum = reader.number("momentum", 0.1);
  const bool frozen = reader.flag("frozen", false);
  reader.done();
  const auto fail = [&](const char* what) {
    throw Error(ErrorCode::kInvalidArgument, "layer \"" + name + "\": property " + what);
  };
  if (!(epsilon > 0)) fail("\"epsilon\" must be above 0");
  if (!(momentum >= 0 && momentum <= 1)) fail("\"momentum\" must be between 0 and 1");
  return std::make_unique<BatchNorm>(epsilon, momentum, frozen);
}

}  // namespace moil
