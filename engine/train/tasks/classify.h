// Task "classify": a sample is of one class; the outputs are the classes'.
//
// Softmax cross-entropy, or that of sigmoids for a model that ends in them. Top-1 accuracy, and
// top-5 if there are more classes than that. Soft targets are the model's probabilities.
#pragma once

#include "engine/train/task.h"

namespace moil {

[[nodiscard]] TaskPtr classify_task();
[[nodiscard]] TaskPtr read_classify(const nlohmann::json& json);

}  // namespace moil
