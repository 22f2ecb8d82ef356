#include "engine/layers/losses/mean_squared_error.h"

#include "engine/kernels/rows/loss.h"
#include "engine/layers/losses/loss_layer.h"

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
