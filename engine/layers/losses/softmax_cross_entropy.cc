// The loss of single-label classification, type "softmax_cross_entropy".
//
// Inputs: logits, and target probabilities of the same dims (one-hot or soft); classes are the
// features or channels. Output [1]: -sum(target * log softmax(logits)), mean over the batch (and
// the pixels or positions). The derivative is that of input 0. A row whose target is all zeros is
// padding: it adds nothing, and has no slope. Elements that are NaN may be it, those that are 0 are
// not: the loss is -log of the probability of all NaN elements together, so that a row of NaN alone
// says nothing (kernels/rows/softmax.h). Property: reduction = "mean" over all rows, or
// "counted": over rows that are no padding, as PyTorch's ignore_index has it. Such a mean depends
// on the batch, which is then not cut into micro-batches.
#include "base/error.h"
#include "engine/kernels/rows/softmax.h"
#include "engine/layers/losses/loss_layer.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

class SoftmaxCrossEntropy final : public LossLayer {
 public:
  explicit SoftmaxCrossEntropy(bool counts_rows) : counts_rows_(counts_rows) {}

  std::string_view type() const override { return "softmax_cross_entropy"; }

 private:
  void row_losses(const float* prediction, const float* target, double* row_loss,
                  std::int64_t begin, std::int64_t end) const override {
    softmax_cross_entropy(prediction, target, row_loss, columns(), begin, end);
  }
  void derivative(const float* prediction, const float* target, float* dx, float scale,
                  std::int64_t begin, std::int64_t end) const override {
    softmax_cross_entropy_derivative(prediction, target, dx, scale, columns(), begin, end);
  }
  operation::Loss::Kind kind() const override {
    return operation::Loss::Kind::kSoftmaxCrossEntropy;
  }
  double divisor(const TensorInfo& prediction) const override {
    return static_cast<double>(rows_of(prediction));
  }
  bool rows_are_positions() const override { return true; }
  bool counts_rows() const override { return counts_rows_; }

  const bool counts_rows_;
};

}  // namespace

std::unique_ptr<Layer> make_softmax_cross_entropy(const std::string& name,
                                                  const Properties& properties) {
  PropertyReader reader(name, properties);
  const std::string reduction = reader.word("reduction", "mean");
  reader.done();
  if (reduction != "mean" && reduction != "counted") {
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + name +
                    "\": property \"reduction\" must be \"mean\" or \"counted\", is \"" +
                    reduction + "\"");
  }
  return std::make_unique<SoftmaxCrossEntropy>(reduction == "counted");
}

}  // namespace moil
