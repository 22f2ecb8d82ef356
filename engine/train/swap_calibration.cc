#include "engine/train/swap_calibration.h"

#include <algorithm>
#include <limits>

#include "engine/tensor/swap_file.h"
#include "engine/train/idle_step.h"

namespace moil {
namespace {

constexpr int kSteps = 3;

}  // namespace

SwapTimes measure_swap_times(const ModelDescription& model, const std::set<std::string>* layers,
                             const TrainerConfig& config, KernelSelector& kernels) {
  const TrainingPlanInput input = training_plan_input(model, layers, config);
  Network network(input.model, input.options, kernels);
  network.allocate();
  IdleUpdater idle(config.optimizer);
  SwapTimes times;
  const auto orders = static_cast<std::size_t>(network.plan().last_order()) + 1;
  times.order_seconds.assign(orders, std::numeric_limits<double>::infinity());
  for (int step = 0; step < kSteps; ++step) {
    fill_inputs_with_zeros(network);
    std::vector<double> seconds(orders, 0);
    network.measure_orders(&seconds);
    network.train_step(static_cast<std::uint64_t>(step), &idle);
    for (std::size_t o = 0; o < orders; ++o)
      times.order_seconds[o] = std::min(times.order_seconds[o], seconds[o]);
  }
  const DiskSpeed disk = measure_disk(config.swap_folder);
  times.read_bytes_per_second = disk.read_bytes_per_second;
  times.write_bytes_per_second = disk.write_bytes_per_second;
  return times;
}

}  // namespace moil
