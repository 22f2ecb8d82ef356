#include "engine/tensor/spec.h"

#include "engine/tensor/row_gradient.h"

namespace moil {

const char* to_string(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return "float32";
    case ElementType::kBfloat16:
      return "bfloat16";
    case ElementType::kInt8:
      return "int8";
    case ElementType::kInt32:
      return "int32";
  }
  return "?";
}

std::size_t TensorInfo::bytes() const {
  if (form == TensorForm::kRows) return RowGradient::bytes(dims[0], dims[1]);
  return static_cast<std::size_t>(dims.elements()) * element_bytes(type);
}

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
