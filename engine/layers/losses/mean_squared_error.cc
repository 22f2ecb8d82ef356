// Mean of (prediction - target)^2 over all elements, type "mse".
//
// Inputs: prediction, and target of the same dims. Output [1]. The derivative is that of input 0.
// No properties.
#include "engine/kernels/rows/loss.h"
#include "engine/layers/losses/loss_layer.h"
#include "engine/layers/makers.h"

namespace moil {
namespace {

class MeanSquaredError final : public LossLayer {
 public:
  std::string_view type() const override { return "mse"; }

 private:
  void row_losses(const float* prediction, const float* target, double* row_loss,
                  std::int64_t begin, std::int64_t end) const override {
    for (std::int64_t r = begin; r < end; ++r)
      row_loss[r] = squared_error(prediction, target, r * columns(), (r + 1) * columns());
  }
  void derivative(const float* prediction, const float* target, float* dx, float scale,
                  std::int64_t begin, std::int64_t end) const override {
    squared_error_derivative(prediction, target, dx, 2 * scale, begin * columns(), end * columns());
  }
  operation::Loss::Kind kind() const override { return operation::Loss::Kind::kSquaredError; }
  double divisor(const TensorInfo& prediction) const override {
    return static_cast<double>(prediction.dims.elements());
  }
};

}  // namespace

std::unique_ptr<Layer> make_mean_squared_error(const std::string& name,
                                               const Properties& properties) {
  PropertyReader(name, properties).done();
  return std::make_unique<MeanSquaredError>();
}

}  // namespace moil
