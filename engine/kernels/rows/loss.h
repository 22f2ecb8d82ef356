// Element-wise losses and their derivatives, vectorised.
//
// Pure functions of the range [begin, end) of their arrays; thread-safe. dx may be x. An element
// whose target is NaN counts nothing and has no slope.
#pragma once

#include <cstdint>

namespace moil {

// The sum of -t log sigmoid(x) - (1 - t) log(1 - sigmoid(x)), stable for every x.
double sigmoid_cross_entropy(const float* x, const float* target, std::int64_t begin,
                             std::int64_t end);
// dx = scale * (sigmoid(x) - t).
void sigmoid_cross_entropy_derivative(const float* x, const float* target, float* dx, float scale,
                                      std::int64_t begin, std::int64_t end);

// The sum of (x - t)^2.
double squared_error(const float* x, const float* target, std::int64_t begin, std::int64_t end);
// dx = scale * (x - t).
void squared_error_derivative(const float* x, const float* target, float* dx, float scale,
                              std::int64_t begin, std::int64_t end);

// The sum of (x - t)^2 / 2 if |x - t| <= delta, else of delta (|x - t| - delta / 2) (Huber 1964).
double huber_error(const float* x, const float* target, float delta, std::int64_t begin,
                   std::int64_t end);
// dx = scale * (x - t), which is cut to [-delta, delta].
void huber_error_derivative(const float* x, const float* target, float* dx, float delta,
                            float scale, std::int64_t begin, std::int64_t end);

}  // namespace moil
