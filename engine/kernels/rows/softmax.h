// Softmax over the last axis in memory: the features, or the channels of a channels-last image.
//
// Rows [begin, end) of [rows, columns] arrays; each row by itself. Pure; thread-safe.
#pragma once

#include <cstdint>

namespace moil {

// out may be in.
void softmax(const float* in, float* out, std::int64_t columns, std::int64_t begin,
             std::int64_t end);

// dx = y * (dy - sum(y * dy)); dx may be dy.
void softmax_derivative(const float* y, const float* dy, float* dx, std::int64_t columns,
                        std::int64_t begin, std::int64_t end);

// y = x - log(sum of e^x); out may be in. Its derivative: dx = dy - e^y * sum(dy); dx may be dy.
void log_softmax(const float* in, float* out, std::int64_t columns, std::int64_t begin,
                 std::int64_t end);
void log_softmax_derivative(const float* y, const float* dy, float* dx, std::int64_t columns,
                            std::int64_t begin, std::int64_t end);

// row_loss[r] = -sum(target * log softmax(in)). Elements whose target is NaN share what the others
// leave of 1, whichever of them it is: they add (1 - sum(the others' target)) * -log(the sum of
// their softmax). So a target of zeros and NaNs says that it is none of the former, and no more.
void softmax_cross_entropy(const float* in, const float* target, double* row_loss,
                           std::int64_t columns, std::int64_t begin, std::int64_t end);

// dx = scale * (softmax(in) * sum(target) - target), where elements that are NaN count as the share
// that they are given in proportion to their softmax; dx may be in.
void softmax_cross_entropy_derivative(const float* in, const float* target, float* dx, float scale,
                                      std::int64_t columns, std::int64_t begin, std::int64_t end);

}  // namespace moil
