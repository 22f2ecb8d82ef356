// Accuracy of a model on held-out samples, through the night's own feature maps.
#pragma once

#include <optional>

#include "daemon/night/feature_source.h"
#include "daemon/night/model_weights.h"
#include "engine/device/kernel_selector.h"

namespace moil::night {

struct Judgement {
  std::optional<double> global, local;  // fractions; nothing where there is no such sample
};

// head: from the split to the logits, of any number of classes (a class beyond them is never
// right).
[[nodiscard]] Judgement judge(const ModelDescription& head, const WeightsOfPart& weights,
                              const data::Mix& mix, FeatureReader& reader, KernelSelector& kernels);

}  // namespace moil::night
