// The products of a linear map y = x W^T + b over many rows: W [outs x ins], as PyTorch has it.
//
// Rows that are few are computed by what reads the weights once. Parallel; allocates nothing.
#pragma once

#include <cstdint>

namespace moil {

struct LinearShape {
  std::int64_t rows = 1, ins = 1, outs = 1;
};

// y = x W^T + bias (outs values, or null); ldx: from one row of x to the next.
void linear(const LinearShape& shape, const float* x, std::int64_t ldx, const float* weight,
            const float* bias, float* y);

// dW = dy^T x, or with `accumulate` dW + dy^T x.
void linear_gradient(const LinearShape& shape, const float* x, const float* dy, bool accumulate,
                     float* dw);

// dx = dy W.
void linear_derivative(const LinearShape& shape, const float* dy, const float* weight, float* dx);

}  // namespace moil
