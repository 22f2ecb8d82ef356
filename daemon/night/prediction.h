// What a model says of images: model.predict.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "daemon/json/fields.h"

namespace moil::night {

// The encoded bytes of one image; may throw.
using ReadImage = std::function<std::vector<std::uint8_t>()>;

// The reply's "predictions" (docs/protocol.md): for each image its `top` most likely labels with
// their probabilities, or why it could not be read. Throws what read_model_folder throws.
[[nodiscard]] daemon::Json predict(const std::filesystem::path& model_folder,
                                   const std::vector<ReadImage>& images, std::size_t top);

}  // namespace moil::night
