// The task of a model after the night: with what it chooses by the night's training samples.
#pragma once

#include "daemon/night/judge/judge.h"

namespace moil::night {

// By the plain views of all training samples, each side's targets as in training. Null if the
// task has nothing to choose. Depends on nothing but its arguments.
[[nodiscard]] TaskPtr fitted_task(const JudgedHead& judged, const data::Mix& mix,
                                  FeatureReader& reader, KernelSelector& kernels);

}  // namespace moil::night
