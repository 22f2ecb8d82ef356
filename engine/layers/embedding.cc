// Rows of a table by their numbers, type "embedding": int32 [N] or [N, L] -> [N, width] or
// [N, L, width].
//
// Properties: rows, width, deviation (1; of fresh weights). Weight: "weight" [rows, width]. Its
// gradient holds the rows that a step reads, so that neither a step's memory nor its time grows
// with the table, unless another layer shares the weight. A number that the table lacks is
// kBadData.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "engine/kernels/rows/table_rows.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"
#include "engine/tensor/row_gradient.h"

namespace moil {
namespace {

class Embedding final : public Layer {
 public:
  Embedding(std::string name, std::int64_t rows, std::int64_t width, double deviation)
      : name_(std::move(name)), rows_(rows), width_(width), deviation_(deviation) {}

  std::string_view type() const override { return "embedding"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 1);
    const Dims& d = inputs[0].dims;
    if (d.rank() > 2) fail_shape("takes [N] or [N, L], not " + d.to_string());
    std::vector<std::int64_t> dims(d.values().begin(), d.values().end());
    dims.push_back(width_);
    return {{Dims(dims)}};
  }

  std::vector<WeightSpec> weights(std::span<const TensorInfo>) const override {
    WeightSpec table;
    table.name = "weight";
    table.dims = Dims{rows_, width_};
    table.init = Initializer::kHeNormal;  // of a fan-in of 2: a deviation of 1, as PyTorch's
    table.fan_in = std::llround(2 / (deviation_ * deviation_)), table.fan_out = width_;
    table.decays = false;
    return {table};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    count_ = setup.inputs[0].dims.elements();
    LayerPlan plan;
    plan.inputs = {Lifespan::kForward | Lifespan::kComputeGradient};
    plan.weights = Lifespan::kNone;
    plan.output_derivatives = Lifespan::kComputeGradient;
    const std::int64_t most = std::min(rows_, count_ * setup.micro_batches);
    const bool dense = setup.dense_gradient.empty() || setup.dense_gradient[0];
    capacity_ = dense || RowGradient::bytes(most, width_) >= table_bytes() ? 0 : most;
    if (capacity_ > 0) {
      plan.gradient_rows = {capacity_};
      plan.gradient_workspace = sum_table_rows_workspace(count_);
    }
    return plan;
  }

  void forward(const LayerRun& run) override {
    const auto* numbers = LayerRun::as<std::int32_t>(run.inputs[0]);
    const auto* strange = std::find_if(numbers, numbers + count_,
                                       [this](std::int32_t n) { return n < 0 || n >= rows_; });
    if (strange != numbers + count_)
      throw Error(ErrorCode::kBadData, "layer \"" + name_ + "\": number " +
                                           std::to_string(*strange) + " of a table of " +
                                           std::to_string(rows_) + " rows");
    gather_table_rows(run.weights[0], numbers, count_, width_, run.outputs[0]);
  }

  void compute_gradient(const LayerRun& run) override {
    const auto* numbers = LayerRun::as<std::int32_t>(run.inputs[0]);
    const float* dy = run.output_derivatives[0];
    if (capacity_ == 0) {
      if (!run.adds(0)) std::fill_n(run.gradients[0], rows_ * width_, 0.0F);
      add_table_rows(numbers, dy, count_, width_, run.gradients[0]);
      return;
    }
    const RowGradient gradient(run.gradients[0], capacity_, width_);
    gradient.count() = static_cast<std::int32_t>(
        sum_table_rows(numbers, dy, count_, width_, run.adds(0) ? gradient.count() : 0,
                       gradient.numbers(), gradient.values(), run.workspace));
  }

 private:
  std::size_t table_bytes() const {
    return static_cast<std::size_t>(rows_ * width_) * sizeof(float);
  }

  const std::string name_;
  const std::int64_t rows_, width_;
  const double deviation_;
  std::int64_t count_ = 0;     // of numbers in a batch
  std::int64_t capacity_ = 0;  // rows of the gradient; 0: it is dense
};

}  // namespace

std::unique_ptr<Layer> make_embedding(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  const std::int64_t rows = reader.integer("rows"), width = reader.integer("width");
  const double deviation = reader.number("deviation", 1);
  reader.done();
  if (!(deviation >= 1e-6 && deviation <= 1))
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name + "\": \"deviation\" is from 0.000001 to 1");
  return std::make_unique<Embedding>(name, rows, width, deviation);
}

}  // namespace moil
