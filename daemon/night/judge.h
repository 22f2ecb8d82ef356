// Accuracy of a model on held-out samples, through the night's own feature maps.
#pragma once

#include <optional>
#include <vector>

#include "daemon/night/feature_source.h"
#include "daemon/night/guard.h"
#include "daemon/night/model_weights.h"
#include "engine/device/kernel_selector.h"

namespace moil::night {

struct Judgement {
  std::optional<double> global, local;  // fractions; nothing where there is no such sample
  std::vector<bool> local_right;        // of each held-out local sample
};

// How many samples there are to train on and to judge by; nothing is measured yet.
[[nodiscard]] Measured counted(const data::Mix& mix);

// What was learned of each class with local samples, by name: from what both models were right
// about.
[[nodiscard]] std::vector<LocalClass> local_classes(const data::Mix& mix, const Judgement& before,
                                                    const Judgement& after);

// head: from the split to the logits, of any number of classes (a class beyond them is never
// right).
[[nodiscard]] Judgement judge(const ModelDescription& head, const WeightsOfPart& weights,
                              const data::Mix& mix, FeatureReader& reader, KernelSelector& kernels);

}  // namespace moil::night
