// Weight updates of the optimizers, vectorised: one pass over weight, gradient and state.
//
// Pure functions of the range [begin, end) of their arrays; thread-safe.
#pragma once

#include <cstdint>

namespace moil {

// g = gradient * gradient_scale + weight * decay
// m = momentum * m + g; g = nesterov ? g + momentum * m : m     (if m is not null)
// weight = weight * shrink - rate * g
struct SgdCoefficients {
  float rate = 0, gradient_scale = 1, decay = 0, momentum = 0, shrink = 1;
  bool nesterov = false;
};
void sgd_update(const SgdCoefficients& k, float* weight, const float* gradient, float* m,
                std::int64_t begin, std::int64_t end);

// g = gradient * gradient_scale + weight * decay
// m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g^2
// weight = weight * shrink - rate * m / (sqrt(v) * root_scale + epsilon)
struct AdamCoefficients {
  float rate = 0, gradient_scale = 1, decay = 0, shrink = 1;
  float beta1 = 0.9F, beta2 = 0.999F, rest1 = 0.1F, rest2 = 0.001F;  // rest = 1 - beta
  float root_scale = 1, epsilon = 1e-8F;
};
void adam_update(const AdamCoefficients& k, float* weight, const float* gradient, float* m,
                 float* v, std::int64_t begin, std::int64_t end);

}  // namespace moil
