#include "engine/kernels/gemm/fused_activation.h"

#include <string>

#include "base/error.h"

namespace moil {

std::string_view to_string(FusedActivation activation) {
  switch (activation) {
    case FusedActivation::kNone:
      return "none";
    case FusedActivation::kRelu:
      return "relu";
    case FusedActivation::kRelu6:
      return "relu6";
  }
  return "?";
}

FusedActivation fused_activation(std::string_view word) {
  for (const auto a : {FusedActivation::kNone, FusedActivation::kRelu, FusedActivation::kRelu6})
    if (word == to_string(a)) return a;
  throw Error(ErrorCode::kInvalidArgument,
              "activation \"" + std::string(word) + "\" cannot be fused; known: none, relu, relu6");
}

}  // namespace moil
