// Execution orders (NNTrainer 2022 §3, 2024 §3): when each step of each layer runs.
//
// N layers, i counted from the input. Tensors live from their smallest to their largest order.
#pragma once

#include <vector>

namespace moil {

enum class OrderForm {
  k2022,  // CG(i) = 3N - 2(i+1), CD(i) = CG(i) + 1; AG is part of CD, after it (§4.1)
  k2024,  // CG(i) = N + 3(N-1-i), CD = CG + 1, AG = CD + 1
};

struct StepOrders {
  int forward = 0;
  int compute_gradient = 0;
  int compute_derivative = 0;
  int apply_gradient = 0;
};

struct OrderOptions {
  OrderForm form = OrderForm::k2024;
  // Clipping by global norm needs every gradient before the first is applied (2024 form only):
  // CG(i) = N + 2(N-1-i), CD = CG + 1, AG(i) = 3N + (N-1-i).
  bool clip_by_global_norm = false;
};

// trainable[i]: whether layer i computes a gradient. In the 2024 form a layer that does not has one
// order for CG, CD and AG. Throws kInvalidArgument for clipping in the 2022 form, whose AG cannot
// wait for all gradients.
[[nodiscard]] std::vector<StepOrders> execution_orders(const std::vector<bool>& trainable,
                                                       const OrderOptions& options);

}  // namespace moil
