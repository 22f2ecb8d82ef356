#include "bench/native/processors_bench/rows.h"

#include <chrono>

#include "base/median.h"
#include "base/seconds.h"
#include "bench/native/processors_bench/network.h"
#include "engine/plan/selection_problem.h"
#include "engine/train/idle_step.h"
#include "engine/train/processor_measurement.h"

namespace moil::bench {
namespace {

// What is measured beside each other: a network by one schedule.
struct Contestant {
  Row row;
  std::unique_ptr<Network> network;
  std::vector<double> seconds;
};

double run_once(Network& network, WeightUpdater& updater) {
  fill_inputs_with_zeros(network);
  const auto start = std::chrono::steady_clock::now();
  if (network.plan().trains)
    network.train_step(1, &updater);
  else
    network.forward(1);
  network.finish();
  return seconds_since(start);
}

Contestant contestant(const NetworkCase& c, const PreparedCase& p, SelectionMethod method,
                      const std::shared_ptr<Processor>& processor,
                      const ProcessorMeasurement& measured) {
  const Schedule schedule = select(measured.problem, method);
  const ScheduleCost cost = cost_of(measured.problem, schedule);
  NetworkOptions options = p.options;
  options.plan.processors = {processor};
  Contestant result;
  const Graph graph = build_graph(p.model, c.batch);
  options.plan.assignment = assignment_of(graph, schedule);
  result.network = std::make_unique<Network>(p.model, options, measured_kernels());
  result.row = {c.model.name,
                c.training ? "training" : "inference",
                std::string(to_string(method)),
                processor->device(),
                c.batch,
                processor->shares_memory(),
                0,
                cost.seconds(),
                cost.transfers(),
                /*is_input=*/false};
  return result;
}

// In turns, so that a machine that grows slower is slower for all of them.
void run_in_turns(std::vector<Contestant>& all, const OptimizerConfig& optimizer, int runs) {
  IdleUpdater updater(optimizer);
  for (Contestant& one : all) {
    one.network->allocate();
    run_once(*one.network, updater);
  }
  for (int run = 0; run < runs; ++run)
    for (Contestant& one : all) one.seconds.push_back(run_once(*one.network, updater));
  for (Contestant& one : all) {
    const std::uint64_t before = one.network->transfers();
    run_once(*one.network, updater);
    one.row.transfers = one.network->transfers() - before;
    one.row.seconds = median(one.seconds);
  }
}

}  // namespace

nlohmann::json to_json(const Row& row) {
  return {{"network", row.network},   {"batch", row.batch},
          {"mode", row.mode},         {"method", row.method},
          {"device", row.device},     {"shares_memory", row.shares_memory},
          {"seconds", row.seconds},   {"transfers", row.transfers},
          {"is_input", row.is_input}, {"predicted_seconds", row.predicted_seconds}};
}

std::vector<Row> measure_rows(const NetworkCase& c, const std::shared_ptr<Processor>& shared,
                              const std::shared_ptr<Processor>& copies,
                              const std::function<void(const std::string&)>& say) {
  const PreparedCase p = prepared(c);
  const std::string title =
      (c.training ? "training" : "inference") + std::string(", batch ") + std::to_string(c.batch);
  std::vector<Contestant> all;
  for (const auto& processor : {copies, shared}) {
    if (!processor) continue;
    say(title +
        (processor->shares_memory() ? ": layer by layer" : ": layer by layer, with copies"));
    const ProcessorMeasurement measured = measure_processors(
        p.model, p.options, p.optimizer, measured_kernels(), {processor}, c.runs);
    for (const SelectionMethod method : kSelectionMethods) {
      const bool is_paper_row =
          method == SelectionMethod::kStepWise || method == SelectionMethod::kLayerWise;
      if (processor != shared && !is_paper_row) continue;
      all.push_back(contestant(c, p, method, processor, measured));
    }
  }
  say(title + ": whole steps, in turns");
  run_in_turns(all, p.optimizer, c.runs);
  std::vector<Row> rows;
  for (const Contestant& one : all) rows.push_back(one.row);
  return rows;
}

}  // namespace moil::bench
