#include "engine/kernels/rows/recurrent.h"

#include "engine/kernels/rows/activation.h"

namespace moil {
namespace {

void sigmoid_in_place(float* x, std::int64_t count) {
  activate(ActivationKind::kSigmoid, 0, x, x, 0, count);
}
void tanh_of(const float* x, float* y, std::int64_t count) {
  activate(ActivationKind::kTanh, 0, x, y, 0, count);
}
float value(const float* values, std::int64_t j) { return values == nullptr ? 0.0F : values[j]; }
// The slopes of a sigmoid and of a tanh, by their values.
float sigmoid_slope(float y) { return y * (1 - y); }
float tanh_slope(float y) { return 1 - y * y; }

}  // namespace

void lstm_cell(float* gates, const float* before, float* cell, float* state, std::int64_t width) {
  float *i = gates, *f = i + width, *g = f + width, *o = g + width;
  sigmoid_in_place(i, 2 * width);
  tanh_of(g, g, width);
  sigmoid_in_place(o, width);
  for (std::int64_t j = 0; j < width; ++j) cell[j] = f[j] * value(before, j) + i[j] * g[j];
  tanh_of(cell, state, width);
  for (std::int64_t j = 0; j < width; ++j) state[j] *= o[j];
}

void lstm_cell_derivative(float* gates, const float* before, const float* cell,
                          const float* d_state, float* d_cell, float* scratch, std::int64_t width) {
  float *i = gates, *f = i + width, *g = f + width, *o = g + width;
  tanh_of(cell, scratch, width);
  for (std::int64_t j = 0; j < width; ++j) {
    const float dc = d_cell[j] + d_state[j] * o[j] * tanh_slope(scratch[j]);
    d_cell[j] = dc * f[j];
    o[j] = d_state[j] * scratch[j] * sigmoid_slope(o[j]);
    f[j] = dc * value(before, j) * sigmoid_slope(f[j]);
    const float input = i[j];
    i[j] = dc * g[j] * sigmoid_slope(input);
    g[j] = dc * input * tanh_slope(g[j]);
  }
}

void gru_cell(float* gates, const float* inner, const float* before, float* state,
              std::int64_t width) {
  float *r = gates, *z = r + width, *n = z + width;
  sigmoid_in_place(r, 2 * width);
  for (std::int64_t j = 0; j < width; ++j) n[j] += r[j] * inner[j];
  tanh_of(n, n, width);
  for (std::int64_t j = 0; j < width; ++j) state[j] = (1 - z[j]) * n[j] + z[j] * value(before, j);
}

void gru_cell_derivative(float* gates, float* inner, const float* before, float* d_state,
                         std::int64_t width) {
  float *r = gates, *z = r + width, *n = z + width;
  for (std::int64_t j = 0; j < width; ++j) {
    const float dn = d_state[j] * (1 - z[j]) * tanh_slope(n[j]);
    const float dz = d_state[j] * (value(before, j) - n[j]) * sigmoid_slope(z[j]);
    d_state[j] *= z[j];
    z[j] = dz;
    n[j] = dn;
    const float reset = r[j];
    r[j] = dn * inner[j] * sigmoid_slope(reset);
    inner[j] = dn * reset;
  }
}

}  // namespace moil
