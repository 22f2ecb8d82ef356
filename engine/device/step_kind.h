// The steps of a layer, as execution orders count them (NNTrainer 2024 §3).
#pragma once

#include <cstdint>

namespace moil {

enum class StepKind : std::uint8_t {
  kForward,            // F
  kComputeGradient,    // CG: of the layer's weights
  kComputeDerivative,  // CD: of its inputs
  kApplyGradient,      // AG
};
inline constexpr int kStepKinds = 4;
const char* to_string(StepKind kind);  // "F", "CG", "CD", "AG"

// The steps as the processor-selection paper counts them (Sensors 2021, 21, 2364 §3.2).
enum class Pass : std::uint8_t {
  kForward,   // FP: F
  kBackward,  // BP: CG and CD
  kUpdate,    // UP: AG
};
inline constexpr int kPasses = 3;
const char* to_string(Pass pass);  // "FP", "BP", "UP"
Pass pass_of(StepKind kind);

}  // namespace moil
