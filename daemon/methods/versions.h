// The version that parameters name.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/state/model_store.h"

namespace moil::daemon {

// The active one if `version` is 0. kNotFound.
[[nodiscard]] inline ModelVersion version_or_active(const ModelStore& models,
                                                    const std::string& model,
                                                    std::int64_t version) {
  if (version != 0) return models.get(model, version);
  if (auto active = models.active(model)) return *active;
  throw Error(ErrorCode::kNotFound, "there is no active version of model \"" + model + "\"");
}

}  // namespace moil::daemon
