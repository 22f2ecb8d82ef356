// Clipping gradients by their global norm, as torch.nn.utils.clip_grad_norm_ does.
//
// The factor is handed to Optimizer::apply (OptimizerStep::gradient_scale), which spares a pass
// over the gradients. Thread-safe; allocates nothing.
#pragma once

#include <cstdint>
#include <span>

namespace moil {

struct GradientView {
  const float* data = nullptr;
  std::int64_t elements = 0;
};

// The L2 norm over all tensors together. Sums are double over pieces that depend on the sizes
// alone, so the result has the same bits whatever the number of threads. Not finite if a
// gradient is not.
[[nodiscard]] double global_norm(std::span<const GradientView> gradients);

// The factor that brings `norm` down to `max_norm`: min(1, max_norm / (norm + 1e-6)). A max_norm
// of 0 or less means: never clip.
[[nodiscard]] double clip_factor(double norm, double max_norm);

}  // namespace moil
