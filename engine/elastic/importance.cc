#include "engine/elastic/importance.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace moil {
namespace {

// The first step updates, and keeps the weights as they were; the second measures.
class Probe final : public WeightUpdater {
 public:
  Probe(const TrainerConfig& config, const Graph& graph, double learning_rate,
        ImportanceMetric metric)
      : optimizer_(make_optimizer(config.optimizer)),
        factors_(rate_factors_of(graph, config)),
        learning_rate_(learning_rate),
        metric_(metric) {}

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

  double importance_of(const WeightUpdate& u, const std::vector<float>& old) const {
    double sum = 0;
    for (std::size_t i = 0; i < old.size(); ++i) {
      const double gradient = static_cast<double>(u.gradient[i]);
      const double change = static_cast<double>(u.weight[i]) - static_cast<double>(old[i]);
      switch (metric_) {
        case ImportanceMetric::kLoss:
          sum -= gradient * change;
          break;
        case ImportanceMetric::kGradient:
          sum += std::abs(gradient);
          break;
        case ImportanceMetric::kUpdate:
          sum += std::abs(change);
          break;
      }
    }
    return sum;
  }

  std::unique_ptr<Optimizer> optimizer_;
  const RateFactors factors_;
  const double learning_rate_;
  const ImportanceMetric metric_;
  std::map<std::string, std::vector<float>> old_;
  std::map<std::string, double> importance_;
};

}  // namespace

// Clipping is left out: it would shorten all updates alike.
TrainingPlanInput probe_plan_input(const ModelDescription& model,
                                   const std::set<std::string>* trainable_layers,
                                   const TrainerConfig& config, std::int64_t samples) {
  TrainerConfig probe = config;
  probe.selection.clear();
  probe.batch = samples;
  probe.micro_batch = 0;
  probe.clip_norm = 0;
  probe.swap = {};
  probe.memory_budget_bytes = 0;
  return training_plan_input(model, trainable_layers, probe);
}

std::map<std::string, double> tensor_importance(const ModelDescription& model,
                                                const std::set<std::string>* trainable_layers,
                                                const TrainerConfig& config, double learning_rate,
                                                const WeightMap& weights, BatchSource& source,
                                                std::span<const std::int64_t> indices,
                                                KernelSelector& kernels, ImportanceMetric metric) {
  if (indices.empty())
    throw Error(ErrorCode::kInvalidArgument, "importance: the probe needs a sample");
  const TrainingPlanInput input =
      probe_plan_input(model, trainable_layers, config, static_cast<std::int64_t>(indices.size()));
  Network network(input.model, input.options, kernels);
  network.allocate();
  network.load(weights);
  Probe probe(config, network.graph(), learning_rate, metric);
  for (int step = 0; step < 2; ++step) {
    source.read(indices, network.input(0), network.input(1));
    network.train_step(/*random_key=*/config.seed, &probe);
  }
  return probe.take();
}

}  // namespace moil
