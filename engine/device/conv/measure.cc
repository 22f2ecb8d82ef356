#include "engine/device/conv/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "engine/device/conv/scratch.h"
#include "engine/kernels/parallel.h"

namespace moil {
namespace {

// Short runs go on, up to so often, until all of them took so long.
constexpr int kMostRuns = 12;
constexpr double kEnoughSeconds = 0.005;
constexpr double kHopeless = 3;  // times the best
// Longer runs are hardly disturbed: the first tells who is left, and one more decides.
constexpr double kLongSeconds = 0.02;
constexpr double kHopelessIfLong = 1.3;
constexpr double kEnoughOperations = 1e9;

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
                            int runs, const MeasuringTime* time) {
  const auto is_over = [&] { return time != nullptr && time->is_over(); };
  if (is_over()) return {};
  const Tensors tensors(kernels, shape, step, fusion);
  constexpr double kUntried = std::numeric_limits<double>::infinity();
  std::vector<double> fastest(kernels.size(), kUntried);
  double best = kUntried, spent = 0;
  const auto goes_on = [&](int round) {
    if (best < kUntried && best > kLongSeconds) return round <= 1;
    return round <= runs || (round <= kMostRuns && spent < kEnoughSeconds);
  };
  for (int round = 0; goes_on(round); ++round) {
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const double hopeless = best > kLongSeconds ? kHopelessIfLong : kHopeless;
      if (round > 0 && fastest[k] > hopeless * best) continue;
      if (is_over()) return round > 0 ? fastest : std::vector<double>();
      if (kernels[k]->packed_weight_bytes() > 0)
        kernels[k]->pack(tensors.args.weights, tensors.packed.bytes());
      const double seconds = seconds_of_run(*kernels[k], tensors.args);
      spent += seconds;
      fastest[k] = std::min(fastest[k], seconds);
      best = std::min(best, seconds);
    }
  }
  return fastest;
}

std::int64_t measured_batch(const ConvShape& shape, const ConvFusion& fusion) {
  const double of_a_sample = 2.0 * static_cast<double>(shape.out_elements() / shape.batch) *
                             static_cast<double>(shape.group_in() * shape.kernel_area());
  const auto enough = static_cast<std::int64_t>(std::ceil(kEnoughOperations / of_a_sample));
  // Kernels whose samples do not depend on each other compute them one by one; others share a batch
  // among threads.
  const std::int64_t least = fusion.constant_weights ? 1 : std::max(4, 2 * thread_count());
  return std::min(shape.batch, std::max(enough, least));
}

}  // namespace moil
