// What a model says of samples: model.predict.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "daemon/json/fields.h"

namespace moil::night {

// The bytes of one sample; may throw.
using ReadSample = std::function<std::vector<std::uint8_t>()>;

// The reply's "predictions" (docs/protocol.md): for each sample its `top` most likely labels with
// their probabilities and the labels that the model says it has, or its numbers, or why it could
// not be read. Of a model with a calibration the probabilities are calibrated, and it is said
// whether it is sure. Throws what read_model_folder throws.
[[nodiscard]] daemon::Json predict(const std::filesystem::path& model_folder,
                                   const std::vector<ReadSample>& samples, std::size_t top);

}  // namespace moil::night
