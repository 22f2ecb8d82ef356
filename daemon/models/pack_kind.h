// Whether a model can learn from a pack.
#pragma once

#include "datasets/kinds/kind.h"
#include "datasets/pack/manifest.h"

namespace moil::night {

// kInvalidArgument if the pack's samples are of another kind than the model takes.
void require_same_kind(const data::PackManifest& pack, const data::Kind& kind);

}  // namespace moil::night
