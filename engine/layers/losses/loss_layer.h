// What the losses share: prediction and target of the same dims, a sum over samples, one number
// out.
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
  // Whether the divisor is the number of rows that have a target other than zeros.
  virtual bool counts_rows() const { return false; }

  std::int64_t columns() const { return columns_; }

 private:
  std::int64_t grain() const;
  double divisor_of(const float* target) const;

  std::int64_t rows_ = 0, columns_ = 0;
  double divisor_ = 1;
};

}  // namespace moil
