#include "engine/device/measure.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "engine/device/scratch.h"

namespace moil {
namespace {

Scratch floats(std::int64_t count) {
  return Scratch(static_cast<std::size_t>(count) * sizeof(float));
}

// The tensors of a step.
struct Tensors {
  Scratch input, weights, bias, output, weight_gradient, bias_gradient, packed, workspace;
  ConvArgs args;

  Tensors(const std::vector<std::unique_ptr<ConvKernel>>& kernels, const ConvShape& shape,
          ConvStep step, const ConvFusion& fusion)
      : input(floats(shape.in_elements())),
        weights(floats(shape.weight_elements())),
        output(floats(shape.out_elements())) {
    std::size_t packed_bytes = 0, workspace_bytes = 0;
    for (const auto& k : kernels) {
      packed_bytes = std::max(packed_bytes, k->packed_weight_bytes());
      workspace_bytes = std::max(workspace_bytes, k->workspace_bytes());
    }
    packed = Scratch(packed_bytes);
    workspace = Scratch(workspace_bytes);
    if (fusion.bias) bias = floats(shape.out_channels);
    if (step == ConvStep::kGradient) {
      weight_gradient = floats(shape.weight_elements());
      if (fusion.bias) bias_gradient = floats(shape.out_channels);
    }
    args.input = input.floats();
    args.weights = weights.floats();
    args.packed = packed.bytes();
    args.bias = bias.floats();
    args.output = output.floats();
    args.output_derivative = output.floats();
    args.input_derivative = input.floats();
    args.weight_gradient = weight_gradient.floats();
    args.bias_gradient = bias_gradient.floats();
    args.workspace = workspace.bytes();
  }
};

double seconds_of_run(const ConvKernel& kernel, const ConvArgs& args) {
  const auto start = std::chrono::steady_clock::now();
  kernel.run(args);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::vector<double> measure(const std::vector<std::unique_ptr<ConvKernel>>& kernels,
                            const ConvShape& shape, ConvStep step, const ConvFusion& fusion,
                            int runs) {
  const Tensors tensors(kernels, shape, step, fusion);
  std::vector<double> fastest;
  double best = std::numeric_limits<double>::infinity();
  for (const auto& kernel : kernels) {
    if (kernel->packed_weight_bytes() > 0)
      kernel->pack(tensors.args.weights, tensors.packed.bytes());
    double time = seconds_of_run(*kernel, tensors.args);
    for (int i = 0; i < runs && time < 3 * best; ++i)
      time = std::min(time, seconds_of_run(*kernel, tensors.args));
    best = std::min(best, time);
    fastest.push_back(time);
  }
  return fastest;
}

}  // namespace moil
