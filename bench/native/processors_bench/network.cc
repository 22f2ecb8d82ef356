#include "bench/native/processors_bench/network.h"

#include "engine/device/conv/kernel_selector.h"
#include "engine/model/preparation.h"
#include "engine/train/trainer.h"

namespace moil::bench {

PreparedCase prepared(const NetworkCase& c) {
  PreparedCase result;
  result.optimizer.momentum = 0.9;
  if (!c.training) {
    result.model = prepare_inference(c.model);
    result.options.batch = c.batch;
    return result;
  }
  TrainerConfig config;
  config.optimizer = result.optimizer;
  config.batch = c.batch;
  config.memory_budget_bytes = kNoMemoryBudget;
  TrainingPlanInput input = training_plan_input(c.model, nullptr, config);
  result.model = std::move(input.model);
  result.options = std::move(input.options);
  return result;
}

KernelSelector& measured_kernels() {
  static KernelSelector kernels;
  return kernels;
}

}  // namespace moil::bench
