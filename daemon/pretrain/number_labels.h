// Labels that are numbers: how large they are, and whether some lie far from the others.
#pragma once

#include <string>
#include <vector>

#include "datasets/samples/dataset.h"
#include "engine/train/tasks/predict.h"

namespace moil::pretrain {

// kHuber: errors beyond one deviation count by their size, and what a deviation is follows from the
// middle of the numbers, so that a few that are far off change little.
enum class NumberLoss { kSquares, kHuber };

// Describes the numbers that are trained on. kInvalidArgument, naming the label, for one that is
// not as many numbers as outputs.
[[nodiscard]] PredictDescription describe_numbers(const data::Dataset& dataset, std::size_t outputs,
                                                  NumberLoss loss);

// A line for each output some of whose numbers are so far from the others that they make most of
// their variance: a mistyped unit, or a sensor that failed.
[[nodiscard]] std::vector<std::string> outlying_numbers(const data::Dataset& dataset,
                                                        const std::vector<std::string>& outputs,
                                                        NumberLoss loss);

}  // namespace moil::pretrain
