#include "engine/elastic/importance.h"

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace moil {
namespace {

// The first step updates, and keeps the weights as they were; the second measures.
class Probe final : public WeightUpdater {
 public:
  Probe(const TrainerConfig& config, const Graph& graph, double learning_rate)
      : optimizer_(make_optimizer(config.optimizer)),
        factors_(rate_factors_of(graph, config)),
        learning_rate_(learning_rate) {}

  void gradient_ready(const WeightUpdate&) override {}
  void all_gradients_ready() override {}
  void apply(const WeightUpdate& update) override {
    const std::string name(update.name);
    const auto old = old_.find(name);
    if (old == old_.end())
      change(update, old_[name]);
    else
      importance_[name] = importance_of(update, old->second);
  }

  std::map<std::string, double> take() { return std::move(importance_); }

 private:
  void change(const WeightUpdate& u, std::vector<float>& old) const {
    old.assign(u.weight, u.weight + u.elements);
    const auto factor = factors_.find(u.name);
    const double rate = factor == factors_.end() ? learning_rate_ : learning_rate_ * factor->second;
    optimizer_->apply({u.weight, u.gradient, u.states, u.elements, u.decays, rate,
                       /*gradient_scale=*/1, /*step=*/1});
  }

  static double importance_of(const WeightUpdate& u, const std::vector<float>& old) {
    double sum = 0;
    for (std::size_t i = 0; i < old.size(); ++i)
      sum -= static_cast<double>(u.gradient[i]) *
             (static_cast<double>(u.weight[i]) - static_cast<double>(old[i]));
    return sum;
  }

  std::unique_ptr<Optimizer> optimizer_;
  const RateFactors factors_;
  const double learning_rate_;
  std::map<std::string, std::vector<float>> old_;
  std::map<std::string, double> importance_;
};

void fill(Network& network, std::size_t input, std::span<const float> values, const char* what) {
  const auto elements = static_cast<std::size_t>(network.input_info(input).dims.elements());
  if (values.size() != elements)
    throw Error(ErrorCode::kInvalidArgument,
                std::string("importance: ") + what + " of " + std::to_string(values.size()) +
                    " numbers; the model takes " + std::to_string(elements));
  std::copy(values.begin(), values.end(), network.input(input));
}

// Clipping is left out: it would shorten all updates alike.
TrainerConfig probe_config(TrainerConfig config, std::int64_t samples) {
  config.batch = samples;
  config.micro_batch = 0;
  config.clip_norm = 0;
  config.swap = {};
  config.memory_budget_bytes = 0;
  return config;
}

}  // namespace

std::map<std::string, double> tensor_importance(const ModelDescription& model,
                                                const std::set<std::string>* trainable_layers,
                                                const TrainerConfig& config, double learning_rate,
                                                const WeightMap& weights, const ProbeBatch& batch,
                                                KernelSelector& kernels) {
  if (batch.samples < 1)
    throw Error(ErrorCode::kInvalidArgument, "importance: the probe needs a sample");
  const TrainingPlanInput input =
      training_plan_input(model, trainable_layers, probe_config(config, batch.samples));
  Network network(input.model, input.options, kernels);
  network.allocate();
  network.load(weights);
  Probe probe(config, network.graph(), learning_rate);
  for (int step = 0; step < 2; ++step) {
    fill(network, 0, batch.inputs, "inputs");
    fill(network, 1, batch.targets, "targets");
    network.train_step(/*random_key=*/config.seed, &probe);
  }
  return probe.take();
}

}  // namespace moil
