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
                                        const std::vector<std::shared_ptr<Processor>>& processors,
                                        int runs) {
  NetworkOptions with = options;
  with.plan.processors = processors;
  with.plan.assignment = {};
  ProcessorMeasurement found;
  const auto measured = [&](Network& network) { return run_steps(network, optimizer, runs); };
  Network on_cpu(model, with, kernels);
  const Run cpu = measured(on_cpu);
  on_cpu.release();
  found.cpu_seconds = median(cpu.whole);
  found.noise = spread_of(cpu.whole);
  std::vector<std::unique_ptr<Network>> networks;
  std::vector<Run> seconds(processors.size());
  std::vector<MeasuredProcessor> others;
  for (std::size_t i = 0; i < processors.size(); ++i) {
    with.plan.assignment = everything_on(static_cast<ProcessorId>(i + 1), on_cpu.graph());
    Network& network = *networks.emplace_back(std::make_unique<Network>(model, with, kernels));
    seconds[i] = measured(network);
    network.release();
    found.other_seconds.push_back(median(seconds[i].whole));
    others.push_back({network.plan(), seconds[i].steps, measure_transfers(*processors[i])});
    const auto& refused = network.plan().refused;
    found.refused.insert(found.refused.end(), refused.begin(), refused.end());
  }
  found.problem = selection_problem(on_cpu.graph(), cpu.steps, others);
  return found;
}

}  // namespace moil
