// The part of a network that a night trains.
#pragma once

#include "engine/model/freeze.h"
#include "engine/model/realizers/realizers.h"

namespace moil::night {

// From the split point on; the whole model if nothing is frozen.
inline ModelDescription head_slice(const ModelDescription& model, const Freeze& freeze) {
  return freeze.split.empty() ? model : realize_slice(model, freeze.split, freeze.split_dims).head;
}

}  // namespace moil::night
