#include "engine/layers/layer.h"

#include "base/error.h"

namespace moil {

std::vector<WeightSpec> Layer::weights(std::span<const TensorInfo>) const { return {}; }

void Layer::compute_gradient(const LayerRun&) {
  throw Error(ErrorCode::kInternal,
              std::string(type()) + " has no weights to compute a gradient of");
}

void Layer::compute_derivative(const LayerRun&) {
  throw Error(ErrorCode::kInternal, std::string(type()) + " computes no derivative");
}

}  // namespace moil
