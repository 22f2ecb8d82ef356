// What the cells of recurrent layers compute of one sample at one step, besides products of
// matrices.
//
// Gates are as PyTorch orders them; a gate has `width` values, one behind the other. Before F they
// hold x W' + h W' + b of their step, and what their derivative wants after it. Pure functions;
// thread-safe.
#pragma once

#include <cstdint>

namespace moil {

// gates: input, forget, cell, output. cell = f * before + i * g; state = o * tanh(cell). before:
// null for zeros.
void lstm_cell(float* gates, const float* before, float* cell, float* state, std::int64_t width);

// The gates become their derivatives before activation. d_state: of the step's state. d_cell: of
// its cell, and then of the cell before. scratch: `width` values.
void lstm_cell_derivative(float* gates, const float* before, const float* cell,
                          const float* d_state, float* d_cell, float* scratch, std::int64_t width);

// gates: reset, update, new, the last without the state's part, which is `inner`, h W' + b.
// new = tanh(x + r * inner); state = (1 - z) * new + z * before.
void gru_cell(float* gates, const float* inner, const float* before, float* state,
              std::int64_t width);

// gates and inner become their derivatives. d_state: of the step's state, and then what of it goes
// to the state before without a product.
void gru_cell_derivative(float* gates, float* inner, const float* before, float* d_state,
                         std::int64_t width);

}  // namespace moil
