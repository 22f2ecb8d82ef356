// Element-wise activations and their derivatives, vectorised.
//
// Pure functions of the range [begin, end) of their arrays; thread-safe. out may be in, and dx may
// be dy.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace moil {

enum class ActivationKind : std::uint8_t {
  kRelu,
  kRelu6,
  kLeakyRelu,
  kSigmoid,
  kTanh,
  kHardSigmoid,  // relu6(x + 3) / 6
  kHardSwish,    // x * hard_sigmoid(x)
  kSilu,         // x * sigmoid(x)
  kGelu,         // x * (1 + erf(x / sqrt 2)) / 2, the exact form
  kElu,          // x, below zero slope * (e^x - 1)
  kSoftplus,     // log(1 + e^x)
  kMish,         // x * tanh(softplus(x))
  kGeluTanh,     // x * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
};
inline constexpr std::array kActivationKinds = {
    ActivationKind::kRelu,      ActivationKind::kRelu6,    ActivationKind::kLeakyRelu,
    ActivationKind::kSigmoid,   ActivationKind::kTanh,     ActivationKind::kHardSigmoid,
    ActivationKind::kHardSwish, ActivationKind::kSilu,     ActivationKind::kGelu,
    ActivationKind::kElu,       ActivationKind::kSoftplus, ActivationKind::kMish,
    ActivationKind::kGeluTanh};
std::string_view to_string(ActivationKind kind);  // "relu", "relu6", "leaky_relu", ...

// Whether the derivative follows from the output alone, so that the input need not live.
bool derivative_from_output(ActivationKind kind);

// slope: of leaky_relu and elu below zero, at least 0.
void activate(ActivationKind kind, float slope, const float* in, float* out, std::int64_t begin,
              std::int64_t end);

// dx = dy * f'(.); saved is the output if derivative_from_output(kind), otherwise the input.
void activation_derivative(ActivationKind kind, float slope, const float* saved, const float* dy,
                           float* dx, std::int64_t begin, std::int64_t end);

}  // namespace moil
