#include "engine/device/step_kind.h"

namespace moil {

const char* to_string(StepKind kind) {
  switch (kind) {
    case StepKind::kForward:
      return "F";
    case StepKind::kComputeGradient:
      return "CG";
    case StepKind::kComputeDerivative:
      return "CD";
    case StepKind::kApplyGradient:
      return "AG";
  }
  return "?";
}

const char* to_string(Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return "FP";
    case Pass::kBackward:
      return "BP";
    case Pass::kUpdate:
      return "UP";
  }
  return "?";
}

Pass pass_of(StepKind kind) {
  if (kind == StepKind::kForward) return Pass::kForward;
  return kind == StepKind::kApplyGradient ? Pass::kUpdate : Pass::kBackward;
}

}  // namespace moil
