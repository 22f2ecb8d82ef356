#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "bench/native/processors_bench/network.h"
#include "engine/model/initial_weights.h"

namespace moil::bench {
namespace {

constexpr double kLearningRate = 0.1;  // so that a step changes weights by more than they round

struct Outcome {
  float loss = 0;
  std::map<std::string, std::vector<float>> tensors;  // gradients, or what updates changed
};

class Recorder final : public WeightUpdater {
 public:
  explicit Recorder(Outcome& outcome) : outcome_(outcome) {}
  void gradient_ready(const WeightUpdate&) override {}
  void all_gradients_ready() override {}
  void apply(const WeightUpdate& u) override {
    outcome_.tensors[std::string(u.name)].assign(u.gradient, u.gradient + u.elements);
  }

 private:
  Outcome& outcome_;
};

class Updater final : public WeightUpdater {
 public:
  explicit Updater(const OptimizerConfig& config) : optimizer_(make_optimizer(config)) {}
  void gradient_ready(const WeightUpdate&) override {}
  void all_gradients_ready() override {}
  void apply(const WeightUpdate& u) override {
    optimizer_->apply({u.weight, u.gradient, u.states, u.elements, u.decays, kLearningRate,
                       /*gradient_scale=*/1, /*step=*/1, u.elsewhere});
  }

 private:
  std::unique_ptr<Optimizer> optimizer_;
};

void step(Network& network, WeightUpdater& updater) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0.0F, 1.0F);
  for (std::size_t i = 0; i < network.inputs(); ++i)
    std::generate_n(network.input(i), network.input_info(i).dims.elements(),
                    [&] { return uniform(random); });
  network.train_step(1, &updater);
}

std::map<std::string, std::vector<float>> persistent_of(const Network& network) {
  std::map<std::string, std::vector<float>> all;
  for (const PersistentTensor& tensor : network.persistent()) {
    const auto data = tensor.data();
    all[tensor.name].assign(data.values.begin(), data.values.end());
  }
  return all;
}

// Of F, CG and CD the gradients of one step are compared. Of AG it is what two steps change, for
// the second one reads the states that the first one wrote.
Outcome outcome_of(const PreparedCase& p, const WeightMap& weights, StepKind kind) {
  Network network(p.model, p.options, measured_kernels());
  network.allocate();
  network.load(weights);
  Outcome outcome;
  if (kind == StepKind::kApplyGradient) {
    Updater updater(p.optimizer);
    const auto before = persistent_of(network);
    step(network, updater);
    step(network, updater);
    outcome.tensors = persistent_of(network);
    for (auto& [name, values] : outcome.tensors)
      std::transform(values.begin(), values.end(), before.at(name).begin(), values.begin(),
                     std::minus<>());
  } else {
    Recorder recorder(outcome);
    step(network, recorder);
  }
  outcome.loss = network.output(0)[0];
  return outcome;
}

double difference(const Outcome& found, const Outcome& expected) {
  double error = std::abs(double{found.loss} - double{expected.loss}) / std::abs(expected.loss);
  double most_of_all = 0;
  for (const auto& [name, values] : expected.tensors)
    for (const float v : values) most_of_all = std::max(most_of_all, std::abs(double{v}));
  for (const auto& [name, values] : expected.tensors) {
    double most = 0.01 * most_of_all, apart = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      most = std::max(most, std::abs(double{values[i]}));
      apart = std::max(apart, std::abs(double{found.tensors.at(name)[i]} - double{values[i]}));
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
  const Outcome gradients = outcome_of(p, weights, StepKind::kForward);
  const Outcome updates = outcome_of(p, weights, StepKind::kApplyGradient);
  p.options.plan.processors = {processor};
  std::vector<Agreement> all;
  for (const Node& node : graph.nodes) {
    for (const StepKind kind : {StepKind::kForward, StepKind::kComputeGradient,
                                StepKind::kComputeDerivative, StepKind::kApplyGradient}) {
      StepProcessors steps{};
      steps[static_cast<std::size_t>(kind)] = kSecondProcessor;
      p.options.plan.assignment = {{node.name, steps}};
      Network planned(p.model, p.options, measured_kernels());
      if (planned.plan().processors[0].empty()) continue;  // it has no such step
      const Outcome& expected = kind == StepKind::kApplyGradient ? updates : gradients;
      all.push_back(
          {node.name, to_string(kind), difference(outcome_of(p, weights, kind), expected)});
    }
  }
  return all;
}

}  // namespace moil::bench
