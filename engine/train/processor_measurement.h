// Measuring what a network takes on the CPU and on other processors, part by part: what a selection
// (device/selection.h) chooses by.
//
// Not thread-safe. Throws what Network throws; ProcessorError if the device fails.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/device/selection.h"
#include "engine/run/network.h"
#include "engine/train/optimizer.h"

namespace moil {

// What a training step takes, or an inference network's forward pass.
struct ProcessorMeasurement {
  SelectionProblem problem;
  double cpu_seconds = 0;             // the whole of it; medians
  std::vector<double> other_seconds;  // the same with all that it can compute on each of the others
  double noise = 0;  // how far apart runs on the CPU are: half the middle half of them, relative
  std::vector<std::string> refused;  // NetworkPlan::refused
};

// model: prepared, as a Network takes it. Allocates the network's memory once for each processor,
// one after the other, and runs it so many times on samples and weights of zeros. What `options`
// assign is not heeded.
[[nodiscard]] ProcessorMeasurement measure_processors(
    const ModelDescription& model, const NetworkOptions& options, const OptimizerConfig& optimizer,
    KernelSelector& kernels, const std::vector<std::shared_ptr<Processor>>& processors,
    int runs = 5);

}  // namespace moil
