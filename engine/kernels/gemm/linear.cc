#include "engine/kernels/gemm/linear.h"

#include <cstring>

#include "engine/kernels/gemm/gemm.h"

namespace moil {
namespace {

// Up to here reading the weights costs more than multiplying them.
constexpr std::int64_t kFewRows = 48;

}  // namespace

void linear(const LinearShape& shape, const float* x, std::int64_t ldx, const float* weight,
            const float* bias, float* y) {
  const auto [rows, ins, outs] = shape;
  if (rows <= kFewRows) return few_rows_gemm(rows, outs, ins, x, ldx, weight, ins, bias, y, outs);
  for (std::int64_t i = 0; bias && i < rows; ++i)
    std::memcpy(y + i * outs, bias, static_cast<std::size_t>(outs) * sizeof(float));
  sgemm(Transpose::kNo, Transpose::kYes, rows, outs, ins, 1.0F, x, ldx, weight, ins,
        bias ? 1.0F : 0.0F, y, outs);
}

void linear_gradient(const LinearShape& shape, const float* x, const float* dy, bool accumulate,
                     float* dw) {
  const auto [rows, ins, outs] = shape;
  if (rows <= kFewRows)
    return gemm_transposed_a(rows, ins, outs, dy, outs, x, ins, accumulate, dw, ins);
  sgemm(Transpose::kYes, Transpose::kNo, outs, ins, rows, 1.0F, dy, outs, x, ins,
        accumulate ? 1.0F : 0.0F, dw, ins);
}

void linear_derivative(const LinearShape& shape, const float* dy, const float* weight, float* dx) {
  const auto [rows, ins, outs] = shape;
  sgemm(Transpose::kNo, Transpose::kNo, rows, ins, outs, 1.0F, dy, outs, weight, ins, 0.0F, dx,
        ins);
}

}  // namespace moil
