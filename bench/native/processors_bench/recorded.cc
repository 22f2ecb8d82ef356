// Rows of a device that is not at hand, and recording one that is.
#include "bench/native/processors_bench/network.h"
#include "engine/plan/selection_problem.h"
#include "engine/train/processor_measurement.h"

namespace moil::bench {
std::vector<Row> recorded_rows(const NetworkCase& c, const RecordedDevice& device) {
  std::vector<Row> rows;
  const auto add = [&](const SelectionProblem& problem, SelectionMethod method) {
    const ScheduleCost cost = cost_of(problem, select(problem, method));
    rows.push_back({c.model.name, c.training ? "training" : "inference",
                    std::string(to_string(method)), device.device, c.batch,
                    problem.transfers.at(0).shares_memory, cost.seconds(), cost.seconds(),
                    cost.transfers(),
                    method == SelectionMethod::kCpu || method == SelectionMethod::kElsewhere});
  };
  const PreparedCase p = prepared(c);
  const auto problem_of = [&](bool shares_memory) {
    return recorded_problem(device, p.model, p.options.batch, p.options.plan, measured_kernels(),
                            shares_memory);
  };
  const SelectionProblem copies = problem_of(false), shared = problem_of(true);
  add(shared, SelectionMethod::kCpu);
  add(shared, SelectionMethod::kElsewhere);
  for (const SelectionProblem* problem : {&copies, &shared}) {
    add(*problem, SelectionMethod::kStepWise);
    add(*problem, SelectionMethod::kLayerWise);
  }
  add(shared, SelectionMethod::kPath);
  return rows;
}

RecordedDevice record_device(const NetworkCase& c, const std::shared_ptr<Processor>& shared,
                             const std::shared_ptr<Processor>& copies) {
  const PreparedCase p = prepared(c);
  RecordedDevice device;
  device.device = shared->device();
  device.note = "measured";
  device.network = c.model.name;
  device.batch = c.batch;
  for (const auto& processor : {copies, shared}) {
    if (!processor) continue;
    record_times(
        measure_processors(p.model, p.options, p.optimizer, measured_kernels(), {processor}, c.runs)
            .problem,
        device);
  }
  return device;
}

}  // namespace moil::bench
