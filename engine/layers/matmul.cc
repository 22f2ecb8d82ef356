// Products of matrices sample by sample: [N, ..., M, K] by [N, ..., K, L] to [N, ..., M, L].
//
// Property: transpose_b (false): the second input is [N, ..., L, K]. Plain layout, equal dims
// before the last two. Each matrix is a product of its own on one thread, so that a sample does not
// depend on its batch; the matrices are spread over the threads. Both inputs live until CD.
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/parallel.h"
#include "engine/layers/makers.h"
#include "engine/layers/shapes.h"

namespace moil {
namespace {

// The last axis but one, and the last.
struct Matrix {
  std::int64_t rows = 1, columns = 1;
};

Matrix matrix_of(const Dims& dims) { return {dims.back(1), dims.back()}; }

class MatMul final : public Layer {
 public:
  explicit MatMul(bool transpose_b) : transpose_b_(transpose_b) {}

  std::string_view type() const override { return "matmul"; }

  std::vector<TensorInfo> infer_outputs(std::span<const TensorInfo> inputs) const override {
    require_inputs(inputs, 2);
    const Dims &a = inputs[0].dims, &b = inputs[1].dims;
    bool fits = a.rank() == b.rank() && a.rank() >= 3 && inputs[0].layout == Layout::kPlain &&
                inputs[1].layout == Layout::kPlain;
    for (std::size_t k = 0; fits && k + 2 < a.rank(); ++k) fits = a[k] == b[k];
    fits = fits && a.back() == (transpose_b_ ? b.back() : b.back(1));
    if (!fits) {
      fail_shape("takes matrices that fit, [N, ..., M, K] and [N, ..., " +
                 std::string(transpose_b_ ? "L, K" : "K, L") + "], has " + a.to_string() + " and " +
                 b.to_string());
    }
    std::vector<std::int64_t> dims(a.values().begin(), a.values().end());
    dims.back() = transpose_b_ ? b.back(1) : b.back();
    return {{Dims(dims)}};
  }

  LayerPlan plan(const LayerSetup& setup) override {
    a_ = matrix_of(setup.inputs[0].dims);
    b_ = matrix_of(setup.inputs[1].dims);
    y_ = matrix_of(setup.outputs[0].dims);
    count_ = setup.inputs[0].dims.elements() / a_.rows / a_.columns;
    LayerPlan plan;
    plan.inputs.assign(2, Lifespan::kForward);
    if (setup.input_needs_derivative[1]) plan.inputs[0] |= Lifespan::kComputeDerivative;
    if (setup.input_needs_derivative[0]) plan.inputs[1] |= Lifespan::kComputeDerivative;
    plan.outputs = {Lifespan::kNone};
    plan.output_derivatives = Lifespan::kComputeDerivative;
    return plan;
  }

  void forward(const LayerRun& run) override {
    product(Transpose::kNo, transpose_b_ ? Transpose::kYes : Transpose::kNo, run.inputs[0], a_,
            run.inputs[1], b_, run.outputs[0], y_);
  }

  void compute_derivative(const LayerRun& run) override {
    const float* dy = run.output_derivatives[0];
    if (float* da = run.input_derivatives[0]) {
      product(Transpose::kNo, transpose_b_ ? Transpose::kNo : Transpose::kYes, dy, y_,
              run.inputs[1], b_, da, a_);
    }
    float* db = run.input_derivatives[1];
    if (db && transpose_b_)
      product(Transpose::kYes, Transpose::kNo, dy, y_, run.inputs[0], a_, db, b_);
    else if (db)
      product(Transpose::kYes, Transpose::kNo, run.inputs[0], a_, dy, y_, db, b_);
  }

 private:
  // to = op(first) op(second), matrix by matrix.
  void product(Transpose first_turned, Transpose second_turned, const float* first, Matrix f,
               const float* second, Matrix s, float* to, Matrix t) const {
    const std::int64_t inner = first_turned == Transpose::kYes ? f.rows : f.columns;
    parallel_for(count_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        sgemm_serial(first_turned, second_turned, t.rows, t.columns, inner, 1.0F,
                     first + i * f.rows * f.columns, f.columns, second + i * s.rows * s.columns,
                     s.columns, 0.0F, to + i * t.rows * t.columns, t.columns);
      }
    });
  }

  const bool transpose_b_;
  Matrix a_, b_, y_;
  std::int64_t count_ = 0;
};

}  // namespace

std::unique_ptr<Layer> make_matmul(const std::string& name, const Properties& properties) {
  PropertyReader reader(name, properties);
  const bool transpose_b = reader.flag("transpose_b", false);
  reader.done();
  return std::make_unique<MatMul>(transpose_b);
}

}  // namespace moil
