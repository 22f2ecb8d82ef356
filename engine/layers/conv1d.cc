// Convolution along a sequence, type "conv1d": [N, L, I] to [N, L', O].
//
// Properties: as conv2d's, one number each; padding (0) may be [left, right]. Weights: "weight"
// [O, I/g, K] and "bias" [O]. A sequence is an image of height 1 whose channels lie last, as it is
// in memory, and conv2d computes it.
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

TensorInfo image_of(const TensorInfo& rows) {
  const Dims& d = rows.dims;
  return {Dims{d[0], d[2], 1, d[1]}, Layout::kChannelsLast};
}

TensorInfo sequence_of(const TensorInfo& image) {
  const Dims& d = image.dims;
  return {Dims{d[0], d[3], d[1]}};
}

class Conv1d final : public Layer {
 public:
  explicit Conv1d(std::unique_ptr<Layer> of_images) : of_images_(std::move(of_images)) {}

  std::string_view type() const override { return "conv1d"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    return {sequence_of(of_images_->infer_outputs(images(inputs))[0])};
  }

  std::vector<WeightSpec> weights(std::span<const TensorInfo> inputs) const override {
    auto specs = of_images_->weights(images(inputs));
    const Dims& d = specs[0].dims;
    specs[0].dims = Dims{d[0], d[1], d[3]};
    return specs;
  }

  LayerPlan plan(const LayerSetup& setup) override {
    LayerSetup of_images = setup;
    of_images.inputs = images(setup.inputs);
    of_images.outputs = of_images_->infer_outputs(of_images.inputs);
    return of_images_->plan(of_images);
  }

  Operation operation() const override { return of_images_->operation(); }
  void weights_changed(const LayerRun& run) override { of_images_->weights_changed(run); }
  void forward(const LayerRun& run) override { of_images_->forward(run); }
  void compute_gradient(const LayerRun& run) override { of_images_->compute_gradient(run); }
  void compute_derivative(const LayerRun& run) override { of_images_->compute_derivative(run); }

 private:
  static std::vector<TensorInfo> images(std::span<const TensorInfo> inputs) {
    require_inputs(inputs, 1);
    if (inputs[0].dims.rank() != 3)
      fail_shape("takes sequences [N, L, F], has " + inputs[0].dims.to_string());
    return {image_of(inputs[0])};
  }

  std::unique_ptr<Layer> of_images_;
};

}  // namespace

std::unique_ptr<Layer> make_conv1d(const std::string& name, const Properties& properties) {
  using Ints = std::vector<std::int64_t>;
  PropertyReader reader(name, properties);
  Properties of_images = properties;
  const auto along = [&](const char* property, std::int64_t fallback) {
    of_images[property] = Ints{1, reader.integer(property, fallback, 1)};
  };
  (void)reader.integer("kernel");  // says that it is missing
  along("kernel", 1), along("stride", 1), along("dilation", 1);
  const auto padding = reader.integers("padding", 2, 0);
  of_images["padding"] = Ints{0, padding[0], 0, padding[1]};
  return std::make_unique<Conv1d>(make_conv2d(name, of_images));
}

}  // namespace moil
