// What each activation computes, in double precision.
#pragma once

#include <cmath>

#include "engine/kernels/rows/activation.h"

namespace moil::test {

inline double activation_formula(ActivationKind kind, double slope, double x) {
  const double hard = std::isnan(x) ? x : std::fmin(std::fmax(x + 3, 0), 6) / 6;
  switch (kind) {
    case ActivationKind::kRelu:
      return x < 0 ? 0 : x;
    case ActivationKind::kRelu6:
      return x < 0 ? 0 : x > 6 ? 6 : x;
    case ActivationKind::kLeakyRelu:
      return x > 0 ? x : slope * x;
    case ActivationKind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case ActivationKind::kTanh:
      return std::tanh(x);
    case ActivationKind::kHardSigmoid:
      return hard;
    case ActivationKind::kHardSwish:
      return x * hard;
    case ActivationKind::kSilu:
      return x / (1 + std::exp(-x));
    case ActivationKind::kGelu:
      return x * std::erfc(-x / std::sqrt(2.0)) / 2;
    case ActivationKind::kElu:
      return x > 0 ? x : slope * std::expm1(x);
    case ActivationKind::kSoftplus:
      return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    case ActivationKind::kMish:
      return x * std::tanh(x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)));
    case ActivationKind::kGeluTanh:
      return x / (1 + std::exp(-2 * std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
  }
  return 0;
}

}  // namespace moil::test
