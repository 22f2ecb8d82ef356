// The loss of tagging, where a sample has any number of labels, type "sigmoid_cross_entropy"
// (MoIL, Eq. 1.11).
//
// Inputs: logits, and targets in [0, 1] of the same dims. Output [1]. The derivative is that of
// input 0. Property: reduction = "mean" over all elements, as PyTorch's, or "sum" over a sample's
// labels and mean over the batch.
#include "base/error.h"
#include "engine/kernels/rows/loss.h"
#include "engine/layers/losses/loss_layer.h"
#include "engine/layers/makers.h"

namespace moil {
namespace {

class SigmoidCrossEntropy final : public LossLayer {
 public:
  explicit SigmoidCrossEntropy(bool sums_labels) : sums_labels_(sums_labels) {}

  std::string_view type() const override { return "sigmoid_cross_entropy"; }

 private:
  void row_losses(const float* prediction, const float* target, double* row_loss,
                  std::int64_t begin, std::int64_t end) const override {
    for (std::int64_t r = begin; r < end; ++r) {
      row_loss[r] = sigmoid_cross_entropy(prediction, target, r * columns(), (r + 1) * columns());
    }
  }
  void derivative(const float* prediction, const float* target, float* dx, float scale,
                  std::int64_t begin, std::int64_t end) const override {
    sigmoid_cross_entropy_derivative(prediction, target, dx, scale, begin * columns(),
                                     end * columns());
  }
  operation::Loss::Kind kind() const override {
    return operation::Loss::Kind::kSigmoidCrossEntropy;
  }
  double divisor(const TensorInfo& prediction) const override {
    return static_cast<double>(sums_labels_ ? prediction.dims[0] : prediction.dims.elements());
  }

  const bool sums_labels_;
};

}  // namespace

std::unique_ptr<Layer> make_sigmoid_cross_entropy(const std::string& name,
                                                  const Properties& properties) {
  PropertyReader reader(name, properties);
  const std::string reduction = reader.word("reduction", "mean");
  reader.done();
  if (reduction != "mean" && reduction != "sum") {
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name +
                    "\": property \"reduction\" must be \"mean\" or \"sum\", is \"" + reduction +
                    "\"");
  }
  return std::make_unique<SigmoidCrossEntropy>(reduction == "sum");
}

}  // namespace moil
