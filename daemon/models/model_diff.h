// What tells two versions of a model apart: model.diff.
#pragma once

#include <filesystem>

#include "daemon/json/fields.h"

namespace moil::night {

// {"layers": [...], "labels": [...]} (docs/protocol.md, model.diff), of what lies in both folders:
// how far the weights of each layer went, and which labels came and went. One tensor of each is in
// memory at a time. Throws what open_model_folder throws.
[[nodiscard]] Json model_diff(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace moil::night
