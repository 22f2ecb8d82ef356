#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "bench/native/processors_bench/network.h"

namespace moil::bench {
namespace {

struct Outcome {
  float loss = 0;
  std::map<std::string, std::vector<float>> gradients;
};

class Recorder final : public WeightUpdater {
 public:
  explicit Recorder(Outcome& outcome) : outcome_(outcome) {}
  void gradient_ready(const WeightUpdate&) override {}
  void all_gradients_ready() override {}
  void apply(const WeightUpdate& u) override {
    outcome_.gradients[std::string(u.name)].assign(u.gradient, u.gradient + u.elements);
  }

 private:
  Outcome& outcome_;
};

Outcome outcome_of(const PreparedCase& p, const WeightMap& weights) {
  Network network(p.model, p.options, measured_kernels());
  network.allocate();
  network.load(weights);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0.0F, 1.0F);
  for (std::size_t i = 0; i < network.inputs(); ++i)
    std::generate_n(network.input(i), network.input_info(i).dims.elements(),
                    [&] { return uniform(random); });
  Outcome outcome;
  Recorder recorder(outcome);
  network.train_step(1, &recorder);
  outcome.loss = network.output(0)[0];
  return outcome;
}

double difference(const Outcome& found, const Outcome& expected) {
  double error = std::abs(double{found.loss} - double{expected.loss}) / std::abs(expected.loss);
  double most_of_all = 0;
  for (const auto& [name, values] : expected.gradients)
    for (const float v : values) most_of_all = std::max(most_of_all, std::abs(double{v}));
  for (const auto& [name, values] : expected.gradients) {
    double most = 0.01 * most_of_all, apart = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      most = std::max(most, std::abs(double{values[i]}));
      apart = std::max(apart, std::abs(double{found.gradients.at(name)[i]} - double{values[i]}));
    }
    error = std::max(error, apart / most);
  }
  return error;
}

}  // namespace

nlohmann::json to_json(const Agreement& agreement) {
  return {{"layer", agreement.layer},
          {"step", agreement.step},
          {"max_relative_error", agreement.max_relative_error}};
}

std::vector<Agreement> measure_agreement(const ModelDescription& model, std::int64_t batch,
                                         const std::shared_ptr<Processor>& processor) {
  PreparedCase p = prepared({model, batch, true, 1});
  const Graph graph = build_graph(p.model, batch);
  const WeightMap weights = initial_weights(graph, 1);
  const Outcome expected = outcome_of(p, weights);
  p.options.plan.processor = processor;
  std::vector<Agreement> all;
  for (const Node& node : graph.nodes) {
    for (const StepKind kind :
         {StepKind::kForward, StepKind::kComputeGradient, StepKind::kComputeDerivative}) {
      StepsElsewhere steps{};
      steps[static_cast<std::size_t>(kind)] = true;
      p.options.plan.assignment = {{node.name, steps}};
      Network planned(p.model, p.options, measured_kernels());
      if (planned.plan().processor.empty()) continue;  // it has no such step
      all.push_back({node.name, to_string(kind), difference(outcome_of(p, weights), expected)});
    }
  }
  return all;
}

}  // namespace moil::bench
