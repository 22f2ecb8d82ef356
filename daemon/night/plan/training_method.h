// Which tensors of a night's trained layers learn: the ways that ElasticTrainer is compared with
// (§5), as a selection of weights.
#pragma once

#include <set>
#include <string>

#include "daemon/spec/job_spec.h"
#include "engine/model/freeze.h"

namespace moil::night {

// "LAYER.WEIGHT"; empty: all of them. The classifier always learns: it has rows that are new.
[[nodiscard]] std::set<std::string> selection_of(daemon::TrainingMethod method,
                                                 const ModelDescription& head,
                                                 const std::set<std::string>& trainable_layers);

}  // namespace moil::night
