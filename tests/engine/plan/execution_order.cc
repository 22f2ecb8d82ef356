#include "tests/engine/plan/execution_order.h"

#include "base/error.h"

namespace moil {

std::vector<StepOrders> execution_orders(const std::vector<bool>& trainable,
                                         const OrderOptions& options) {
  if (options.form == OrderForm::k2022 && options.clip_by_global_norm) {
    throw Error(ErrorCode::kInvalidArgument,
                "the execution orders of 2022 have no place for clipping by global norm; use those "
                "of 2024");
  }
  const int n = static_cast<int>(trainable.size());
  std::vector<StepOrders> orders(trainable.size());
  for (int i = 0; i < n; ++i) {
    StepOrders& o = orders[static_cast<std::size_t>(i)];
    o.forward = i;
    if (options.form == OrderForm::k2022) {
      o.compute_gradient = 3 * n - 2 * (i + 1);
      o.compute_derivative = o.compute_gradient + 1;
      o.apply_gradient = o.compute_derivative;
    } else if (options.clip_by_global_norm) {
      o.compute_gradient = n + 2 * (n - 1 - i);
      o.compute_derivative = o.compute_gradient + 1;
      o.apply_gradient = 3 * n + (n - 1 - i);
    } else {
      o.compute_gradient = n + 3 * (n - 1 - i);
      o.compute_derivative = o.compute_gradient + 1;
      o.apply_gradient = o.compute_derivative + 1;
    }
    if (options.form == OrderForm::k2024 && !trainable[static_cast<std::size_t>(i)]) {
      o.compute_derivative = o.apply_gradient = o.compute_gradient;
    }
  }
  return orders;
}

}  // namespace moil
