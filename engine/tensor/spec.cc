#include "engine/tensor/spec.h"

namespace moil {

const char* to_string(TensorKind kind) {
  switch (kind) {
    case TensorKind::kInput:
      return "input";
    case TensorKind::kWeight:
      return "weight";
    case TensorKind::kStatistic:
      return "statistic";
    case TensorKind::kGradient:
      return "gradient";
    case TensorKind::kOptimizerState:
      return "optimizer state";
    case TensorKind::kActivation:
      return "activation";
    case TensorKind::kDerivative:
      return "derivative";
    case TensorKind::kSaved:
      return "saved";
    case TensorKind::kWorkspace:
      return "workspace";
  }
  return "?";
}

}  // namespace moil
