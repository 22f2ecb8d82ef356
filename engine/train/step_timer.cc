#include "engine/train/step_timer.h"

#include <algorithm>
#include <chrono>

#include "base/median.h"
#include "base/seconds.h"
#include "engine/train/idle_step.h"

namespace moil {

StepTimer::StepTimer(Network& network)
    : network_(network), orders_(static_cast<std::size_t>(network.plan().last_order()) + 1) {
  network_.measure_orders(&orders_);
}

StepTimer::~StepTimer() { network_.measure_orders(nullptr); }

double StepTimer::run(WeightUpdater& updater) {
  fill_inputs_with_zeros(network_);
  std::ranges::fill(orders_, 0);
  const auto start = std::chrono::steady_clock::now();
  if (network_.plan().trains)
    network_.train_step(/*random_key=*/1, &updater);
  else
    network_.forward(/*random_key=*/1);
  network_.finish();
  const double seconds = seconds_since(start);
  const Program& program = network_.plan().program;
  for (std::size_t order = 0; order < program.size(); ++order)
    if (is_first_run(program[order]))
      parts_[{program[order].node, program[order].kind}].push_back(orders_[order]);
  return seconds;
}

double StepTimer::seconds(int node, StepKind kind) const {
  const auto found = parts_.find({node, kind});
  return found == parts_.end() ? 0 : median(found->second);
}

std::vector<double> StepTimer::forward_seconds() const {
  std::vector<double> all;
  for (int i = 0; i < static_cast<int>(network_.graph().nodes.size()); ++i)
    all.push_back(seconds(i, StepKind::kForward));
  return all;
}

}  // namespace moil
