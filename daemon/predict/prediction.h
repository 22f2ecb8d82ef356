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

struct AskedSample {
  ReadSample read;
  // The sample's descriptor, if it is an open file: a recording that is larger than samples may be
  // is then heard as it is read.
  int file = -1;
};

struct PredictionWanted {
  std::size_t top = 5;    // of the most likely labels
  bool timeline = false;  // when labels are said
};

// The reply's "predictions" (docs/protocol.md): for each sample its most likely labels with their
// probabilities and the labels that the model says it has, or its numbers, or why it could not be
// read; "remark" is what else is to be said of one. If the model has the label "something else",
// its probability is told whether it is among the likeliest or not. If the model has a calibration,
// probabilities are calibrated, and it is said whether it is sure. A model of sequences says what
// comes next (continuation.h). Throws what read_model_folder
// throws; kInvalidArgument if the model has no timeline.
[[nodiscard]] Json predict(const std::filesystem::path& model_folder,
                           const std::vector<AskedSample>& samples, const PredictionWanted& wanted);

}  // namespace moil::night
