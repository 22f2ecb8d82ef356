// Huber's loss, the mean over all elements, type "huber": squared errors, but for those beyond
// delta, which count by their size.
//
// Inputs: prediction, and target of the same dims (NaN: none). Output [1]. The derivative is that
// of input 0. Property "delta" (1): above 0.
#include "base/error.h"
#include "engine/kernels/rows/loss.h"
#include "engine/layers/losses/loss_layer.h"
#include "engine/layers/makers.h"

namespace moil {
namespace {

class Huber final : public LossLayer {
 public:
  explicit Huber(float delta) : delta_(delta) {}

  std::string_view type() const override { return "huber"; }

 private:
  void row_losses(const float* prediction, const float* target, double* row_loss,
                  std::int64_t begin, std::int64_t end) const override {
    for (std::int64_t r = begin; r < end; ++r)
      row_loss[r] = huber_error(prediction, target, delta_, r * columns(), (r + 1) * columns());
  }
  void derivative(const float* prediction, const float* target, float* dx, float scale,
                  std::int64_t begin, std::int64_t end) const override {
    huber_error_derivative(prediction, target, dx, delta_, scale, begin * columns(),
                           end * columns());
  }
  operation::Loss::Kind kind() const override { return operation::Loss::Kind::kHuber; }
  float delta() const override { return delta_; }
  double divisor(const TensorInfo& prediction) const override {
    return static_cast<double>(prediction.dims.elements());
  }

  const float delta_;
};

}  // namespace

std::unique_ptr<Layer> make_huber(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  const double delta = reader.number("delta", 1);
  reader.done();
  if (!(delta > 0))
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name + "\": property \"delta\" must be above 0");
  return std::make_unique<Huber>(static_cast<float>(delta));
}

}  // namespace moil
