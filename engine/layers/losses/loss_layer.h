// What the losses share: prediction and target of the same dims, if asked a weight a sample
// ([batch, 1]), a sum over samples, one number out.
//
// A weighted loss gives a second output, [batch, 1]: the norm of the derivative of each sample's
// own loss by the prediction, whatever its weight. It bounds the norm of the sample's gradient, but
// for a factor that all samples share (Katharopoulos and Fleuret 2018, eq. 16-20).
//
// Forward adds up one number a row in double, in the order of the rows, so that the loss has the
// same bits whatever the number of threads.
#pragma once

#include <cstdint>

#include "engine/layers/layer.h"

namespace moil {

class LossLayer : public Layer {
 public:
  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const final;
  LayerPlan plan(const LayerSetup& setup) final;
  Operation operation() const final;
  void forward(const LayerRun& run) final;
  void compute_derivative(const LayerRun& run) final;

 protected:
  // The losses of rows [begin, end), in row_loss[begin..end).
  virtual void row_losses(const float* prediction, const float* target, double* row_loss,
                          std::int64_t begin, std::int64_t end) const = 0;
  // dx = scale * d(row loss) / d(prediction) for rows [begin, end).
  virtual void derivative(const float* prediction, const float* target, float* dx, float scale,
                          std::int64_t begin, std::int64_t end) const = 0;
  virtual operation::Loss::Kind kind() const = 0;
  virtual float delta() const { return 1; }  // of Huber's
  // What the sum of the rows' losses is divided by.
  virtual double divisor(const TensorInfo& prediction) const = 0;
  // Whether a row is a pixel or position of its own rather than a whole sample.
  virtual bool rows_are_positions() const { return false; }

  std::int64_t columns() const { return columns_; }

 private:
  std::int64_t grain() const;
  void gradient_bounds(const LayerRun& run) const;

  std::int64_t rows_ = 0, columns_ = 0, rows_of_sample_ = 1;
  double divisor_ = 1;
  bool is_weighted_ = false;
};

}  // namespace moil
