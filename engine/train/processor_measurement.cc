#include "engine/train/processor_measurement.h"

#include <algorithm>

#include "base/median.h"
#include "engine/device/processor.h"
#include "engine/plan/selection_problem.h"
#include "engine/train/idle_step.h"
#include "engine/train/step_timer.h"

namespace moil {
namespace {

struct Run {
  StepSeconds steps;
  std::vector<double> whole;
};

// The first step warms up: kernels are compiled, pages are touched.
Run run_steps(Network& network, const OptimizerConfig& optimizer, int steps) {
  network.allocate();
  IdleUpdater updates(optimizer);
  StepTimer timer(network);
  timer.run(updates);
  timer.forget();
  Run run;
  for (int i = 0; i < steps; ++i) run.whole.push_back(timer.run(updates));
  for (int node = 0; node < static_cast<int>(network.graph().nodes.size()); ++node) {
    std::array<double, kStepKinds> seconds{};
    for (int kind = 0; kind < kStepKinds; ++kind)
      seconds[static_cast<std::size_t>(kind)] = timer.seconds(node, static_cast<StepKind>(kind));
    run.steps.push_back(seconds);
  }
  return run;
}

double spread_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const std::size_t quarter = seconds.size() / 4;
  return (seconds[seconds.size() - 1 - quarter] - seconds[quarter]) / 2 / median(seconds);
}

}  // namespace

ProcessorMeasurement measure_processors(const ModelDescription& model,
                                        const NetworkOptions& options,
                                        const OptimizerConfig& optimizer, KernelSelector& kernels,
                                        const std::shared_ptr<Processor>& processor, int runs) {
  NetworkOptions with = options;
  with.plan.processor = nullptr;
  with.plan.assignment = {};
  Run cpu;
  {
    Network network(model, with, kernels);
    cpu = run_steps(network, optimizer, runs);
    with.plan.assignment = everything_elsewhere(network.graph());
  }
  with.plan.processor = processor;
  Network network(model, with, kernels);
  const Run elsewhere = run_steps(network, optimizer, runs);
  ProcessorMeasurement found;
  found.problem = selection_problem(network.graph(), network.plan(), cpu.steps, elsewhere.steps,
                                    measure_transfers(*processor));
  found.cpu_seconds = median(cpu.whole);
  found.elsewhere_seconds = median(elsewhere.whole);
  found.noise = spread_of(cpu.whole);
  found.refused = network.plan().refused;
  return found;
}

}  // namespace moil
