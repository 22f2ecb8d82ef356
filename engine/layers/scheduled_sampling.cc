// Of each row of two tensors the teacher's or the network's own, type "scheduled_sampling" (Bengio
// et al. 2015): an unrolled decoder's next step takes what should have come before or what came.
//
// Inputs: the teacher's and the own rows, of the same dims [N, F] or [N, L, F]. Property: rate = 0,
// from 0 to 1, the probability of an own row in training; 0 is teacher forcing. At inference the
// teacher's. The choice is a function of LayerRun::random_key and the row, and stored nowhere; the
// derivative goes to the chosen row alone. In place over the teacher's.
#include <algorithm>

#include "base/error.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/rows/dropout.h"
#include "engine/kernels/rows/elementwise.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class ScheduledSampling final : public Layer {
 public:
  explicit ScheduledSampling(double rate) : rate_(rate) {}

  std::string_view type() const override { return "scheduled_sampling"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 2);
    require_same_dims(inputs);
    require_rows(inputs[0]);
    return {inputs[0]};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    const Dims& dims = setup.inputs[0].dims;
    width_ = dims[dims.rank() - 1];
    rows_ = dims.elements() / width_;
    rows_per_sample_ = rows_ / dims[0];
    own_rate_ = setup.training ? rate_ : 0;
    LayerPlan plan;
    plan.inputs.assign(2, Lifespan::kForward);
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    plan.in_place = plan.derivative_in_place = InPlace::kModify;
    return plan;
  }

  void forward(const LayerRun& run) override {
    each_row(run, [&](bool own, std::int64_t begin, std::int64_t end) {
      copy(run.inputs[own ? 1 : 0], run.outputs[0], begin, end);
    });
  }

  // The teacher's last: it may lie over the output's.
  void compute_derivative(const LayerRun& run) override {
    for (const int input : {1, 0}) {
      float* dx = run.input_derivatives[static_cast<std::size_t>(input)];
      if (dx == nullptr) continue;
      each_row(run, [&](bool own, std::int64_t begin, std::int64_t end) {
        if (own == (input == 1))
          copy(run.output_derivatives[0], dx, begin, end);
        else
          std::fill(dx + begin, dx + end, 0.0F);
      });
    }
  }

 private:
  // work(whether the own one is chosen, where the row begins, where it ends).
  template <class Work>
  void each_row(const LayerRun& run, const Work& work) const {
    const std::int64_t first = run.first_sample * rows_per_sample_;
    parallel_for(rows_, kElementGrain / width_ + 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row)
        work(takes_own(run.random_key, first + row), row * width_, (row + 1) * width_);
    });
  }

  // As dropout would drop an element of that number.
  bool takes_own(std::uint64_t key, std::int64_t row) const {
    if (own_rate_ == 0 || own_rate_ == 1) return own_rate_ == 1;
    const float teacher = 1;
    float kept = 0;
    dropout(&teacher, &kept, key, own_rate_, 0, 1, row);
    return kept == 0;
  }

  const double rate_;
  double own_rate_ = 0;
  std::int64_t width_ = 1, rows_ = 1, rows_per_sample_ = 1;
};

}  // namespace

std::unique_ptr<Layer> make_scheduled_sampling(const std::string& name,
                                               const Properties& properties) {
  PropertyReader reader(name, properties);
  const double rate = reader.number("rate", 0);
  reader.done();
  if (!(rate >= 0 && rate <= 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name + "\": property \"rate\" must be from 0 to 1");
  }
  return std::make_unique<ScheduledSampling>(rate);
}

}  // namespace moil
