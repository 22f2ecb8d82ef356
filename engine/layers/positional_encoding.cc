// Adds to each position of a sequence where it stands, type "positional_encoding" (Vaswani 2017):
// y[n, l, 2i] = scale * x + sin(l / 10000^(2i/E)), y[n, l, 2i+1] likewise with cos.
//
// Property: scale (1), which multiplies x first; the Transformer's embeddings take sqrt(E). Shape
// [N, L, E]. F makes a position's row once for the whole batch.
#include <cmath>

#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/positions.h"
#include "engine/layers/shapes.h"

namespace moil {

void write_position(double position, std::span<float> row) {
  for (std::size_t e = 0; e < row.size(); e += 2) {
    const double share = static_cast<double>(e) / static_cast<double>(row.size());
    const double angle = position * std::pow(10000.0, -share);
    row[e] = static_cast<float>(std::sin(angle));
    if (e + 1 < row.size()) row[e + 1] = static_cast<float>(std::cos(angle));
  }
}

namespace {

class PositionalEncoding final : public Layer {
 public:
  explicit PositionalEncoding(float scale) : scale_(scale) {}

  std::string_view type() const override { return "positional_encoding"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    if (inputs[0].dims.rank() != 3)
      fail_shape("takes sequences [N, L, E], has " + inputs[0].dims.to_string());
    return {inputs[0]};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    const Dims& d = setup.inputs[0].dims;
    batch_ = d[0], length_ = d[1], width_ = d[2];
    parts_ = part_count(length_, kElementGrain / 8 / width_ + 1);
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward};
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    plan.forward_workspace = static_cast<std::size_t>(parts_ * width_) * sizeof(float);
    plan.in_place = InPlace::kModify;
    plan.derivative_in_place = scale_ == 1 ? InPlace::kSameData : InPlace::kModify;
    return plan;
  }

  void forward(const LayerRun& run) override {
    parallel_parts(parts_, [&](int part) {
      float* row = reinterpret_cast<float*>(run.workspace) + part * width_;
      const Range range = part_of(length_, part, parts_);
      for (std::int64_t l = range.begin; l < range.end; ++l) {
        write_position(static_cast<double>(l), {row, static_cast<std::size_t>(width_)});
        for (std::int64_t n = 0; n < batch_; ++n) add(run, (n * length_ + l) * width_, row);
      }
    });
  }

  void compute_derivative(const LayerRun& run) override {
    const std::int64_t count = batch_ * length_ * width_;
    parallel_for(count, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        run.input_derivatives[0][i] = scale_ * run.output_derivatives[0][i];
    });
  }

 private:
  void add(const LayerRun& run, std::int64_t at, const float* row) const {
    const float* x = run.inputs[0] + at;
    float* y = run.outputs[0] + at;
    for (std::int64_t e = 0; e < width_; ++e) y[e] = scale_ * x[e] + row[e];
  }

  const float scale_;
  std::int64_t batch_ = 1, length_ = 1, width_ = 1;
  int parts_ = 1;
};

}  // namespace

std::unique_ptr<Layer> make_positional_encoding(const std::string& name,
                                                const Properties& properties) {
  PropertyReader reader(name, properties);
  const double scale = reader.number("scale", 1);
  reader.done();
  return std::make_unique<PositionalEncoding>(static_cast<float>(scale));
}

}  // namespace moil
