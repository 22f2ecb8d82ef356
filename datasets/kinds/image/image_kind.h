// The kind `image`: photos (JPEG, PNG, WebP), resized, cropped and normalised (transforms/).
#pragma once

#include "datasets/images/image.h"
#include "datasets/kinds/kind.h"
#include "datasets/transforms/preprocessing.h"

namespace moil::data {

// kInvalidArgument, naming the field.
[[nodiscard]] KindPtr image_kind(const Preprocessing& description);
[[nodiscard]] KindPtr image_kind_from_json(const nlohmann::json& fields);

}  // namespace moil::data
