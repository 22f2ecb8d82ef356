// The task of a model of sequences, by what it is shown.
#pragma once

#include "datasets/kinds/kind.h"
#include "engine/train/tasks/sequence.h"

namespace moil::night {

// kInvalidArgument if the kind makes no symbols.
[[nodiscard]] TaskPtr sequence_task_of(const data::Kind& kind);

}  // namespace moil::night
