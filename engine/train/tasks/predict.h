// Task "predict": the outputs are numbers. A sample's label is the number, in text; of several
// outputs, as many, with blanks between them.
//
// The network learns (x - mean) / deviation of each output, so that no unit makes its gradients
// large or small; answers are told in the user's unit. Mean squared error, or Huber's if a few
// samples are far off. The headline is R2, the share of the numbers' variance that is explained,
// the mean over outputs; beside it the mean absolute error and the root of the mean squared one, in
// the user's unit.
#pragma once

#include "engine/train/task.h"

namespace moil {

struct PredictDescription {
  // An element an output; empty: 0 and 1.
  std::vector<double> mean = {}, stddev = {};
  // Errors beyond it, in deviations, count by their size instead of its square; 0: none do.
  double huber_delta = 0;
};

// kInvalidArgument for deviations that are not above 0, or not as many as means.
[[nodiscard]] TaskPtr predict_task(PredictDescription description = {});
// {"task": "predict", "mean": [..], "stddev": [..], "huber_delta": 1}. kInvalidArgument.
[[nodiscard]] TaskPtr read_predict(const nlohmann::json& json);

// The numbers of a label. kInvalidArgument, naming it, if they are not `count` finite numbers.
[[nodiscard]] std::vector<double> numbers_of(const std::string& label, std::size_t count);

}  // namespace moil
