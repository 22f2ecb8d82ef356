// Tensors one behind the other along an axis, type "concat". All other dims must be the same.
//
// Property: axis (1), behind the batch. Backward reads only the derivative.
#include <algorithm>
#include <array>

#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

// Seen in memory, every input is [rows, width], a row being what follows one index of the axes that
// lie before `axis` there: for the channels of an image a pixel.
std::int64_t rows_for(const TensorInfo& info, std::size_t axis) {
  const Dims& d = info.dims;
  if (info.layout == Layout::kChannelsLast) {
    const std::array<std::int64_t, 4> rows = {1, d[0] * d[2] * d[3], d[0], d[0] * d[2]};
    return rows[axis];
  }
  std::int64_t rows = 1;
  for (std::size_t k = 0; k < axis; ++k) rows *= d[k];
  return rows;
}

class Concat final : public Layer {
 public:
  explicit Concat(std::size_t axis) : axis_(axis) {}

  std::string_view type() const override { return "concat"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_at_least(inputs, 1);
    TensorInfo result = inputs[0];
    const auto& first = inputs[0].dims;
    if (first.rank() <= axis_) {
      fail_shape("takes tensors with an axis " + std::to_string(axis_) + ", has " +
                 first.to_string());
    }
    std::int64_t total = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      bool fits = inputs[i].dims.rank() == first.rank() && inputs[i].layout == inputs[0].layout;
      for (std::size_t axis = 0; fits && axis < first.rank(); ++axis)
        fits = axis == axis_ || inputs[i].dims[axis] == first[axis];
      if (!fits) {
        fail_shape("input " + std::to_string(i) + " is " + inputs[i].dims.to_string() +
                   ", which differs from input 0, " + first.to_string() + ", in more than axis " +
                   std::to_string(axis_));
      }
      total += inputs[i].dims[axis_];
    }
    std::vector<std::int64_t> dims(first.values().begin(), first.values().end());
    dims[axis_] = total;
    result.dims = Dims(dims);
    return {result};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    rows_ = rows_for(setup.inputs[0], axis_);
    width_ = setup.outputs[0].dims.elements() / rows_;
    widths_.clear();
    for (const auto& input : setup.inputs) widths_.push_back(input.dims.elements() / rows_);
    LayerPlan plan;
    plan.inputs.assign(setup.inputs.size(), Lifespan::kForward);
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    return plan;
  }

  void forward(const LayerRun& run) override {
    parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        float* to = run.outputs[0] + r * width_;
        for (std::size_t i = 0; i < widths_.size(); ++i) {
          copy(run.inputs[i] + r * widths_[i], to, 0, widths_[i]);
          to += widths_[i];
        }
      }
    });
  }

  void compute_derivative(const LayerRun& run) override {
    parallel_for(rows_, grain(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        const float* from = run.output_derivatives[0] + r * width_;
        for (std::size_t i = 0; i < widths_.size(); ++i) {
          if (float* dx = run.input_derivatives[i]) copy(from, dx + r * widths_[i], 0, widths_[i]);
          from += widths_[i];
        }
      }
    });
  }

 private:
  std::int64_t grain() const { return std::max<std::int64_t>(1, kElementGrain / width_); }

  const std::size_t axis_;
  std::int64_t rows_ = 0, width_ = 0;
  std::vector<std::int64_t> widths_;
};

}  // namespace

std::unique_ptr<Layer> make_concat(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  const std::int64_t axis = reader.integer("axis", 1, 1);
  reader.done();
  return std::make_unique<Concat>(static_cast<std::size_t>(axis));
}

}  // namespace moil
