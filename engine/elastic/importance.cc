#include "engine/elastic/importance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "engine/kernels/parallel.h"
#include "engine/layers/weight_order.h"
#include "engine/train/weight_step.h"

namespace moil {
namespace {

// In lanes, so that the compiler may add several terms at once without reordering any.
using Lanes = std::array<double, WeightBlocks::kRows>;

// Part by part, so that threads share it and their number changes no bit. add(part, lanes).
template <class Add>
double sum_of_parts(std::int64_t parts, const Add& add) {
  std::vector<double> sums(static_cast<std::size_t>(parts));
  parallel_for(parts, /*grain=*/1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      Lanes lanes{};
      add(p, lanes);
      sums[static_cast<std::size_t>(p)] = std::accumulate(lanes.begin(), lanes.end(), 0.0);
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// Sums term(index in memory, index in the file's order) over all elements.
template <class Term>
double sum_of(const WeightSpec& spec, const Term& term) {
  if (spec.order != WeightOrder::kPlain) {
    const WeightBlocks blocks(spec);
    return sum_of_parts(blocks.count(), [&](std::int64_t block, Lanes& lanes) {
      blocks.visit(
          block, [&](std::int64_t file, std::int64_t stride, std::int64_t memory, std::int64_t n) {
            for (std::int64_t i = 0; i < n; ++i)
              lanes[static_cast<std::size_t>(i)] += term(memory + i, file + i * stride);
          });
    });
  }
  constexpr std::int64_t kPart = 1 << 15, kLanes = WeightBlocks::kRows;
  const std::int64_t count = spec.dims.elements();
  return sum_of_parts((count + kPart - 1) / kPart, [&](std::int64_t part, Lanes& lanes) {
    const std::int64_t last = std::min(count, (part + 1) * kPart);
    std::int64_t i = part * kPart;
    for (; i + kLanes <= last; i += kLanes)
      for (std::int64_t l = 0; l < kLanes; ++l)
        lanes[static_cast<std::size_t>(l)] += term(i + l, i + l);
    for (; i < last; ++i) lanes[0] += term(i, i);
  });
}

// The first step updates, the second measures. `weights`, in the file's order, outlive it.
class Probe final : public WeightUpdater {
 public:
  Probe(const TrainerConfig& config, const Graph& graph, const WeightMap& weights,
        double learning_rate, ImportanceMetric metric)
      : weights_(weights),
        optimizer_(make_optimizer(config.optimizer)),
        factors_(rate_factors_of(graph, config)),
        learning_rate_(learning_rate),
        metric_(metric) {
    for (const Node& node : graph.nodes)
      for (const WeightSpec& spec : node.weights) specs_[weight_name(node, spec)] = &spec;
  }

  void gradient_ready(const WeightUpdate&) override {}
  void all_gradients_ready() override {}
  void apply(const WeightUpdate& update) override {
    if (!updated_) return change(update);
    const std::string name(update.name);
    importance_[name] = importance_of(update, *specs_.at(name), weights_.at(name).data.data());
  }

  void all_updated() { updated_ = true; }
  // What an update turned into no number went too far, whatever is measured.
  std::map<std::string, double> take() {
    for (auto& [name, importance] : importance_) {
      if (!std::isfinite(importance)) importance = std::numeric_limits<double>::lowest();
    }
    return std::move(importance_);
  }

 private:
  void change(const WeightUpdate& u) const {
    const auto factor = factors_.find(u.name);
    const double rate = factor == factors_.end() ? learning_rate_ : learning_rate_ * factor->second;
    OptimizerStep step = optimizer_step(u);
    step.learning_rate = rate;
    optimizer_->apply(step);
  }

  double importance_of(const WeightUpdate& u, const WeightSpec& spec, const float* then) const {
    const float *gradient = u.gradient, *now = u.weight;
    if (u.has_rows()) return importance_of_rows(u, then);
    switch (metric_) {
      case ImportanceMetric::kGradient:
        return sum_of(spec,
                      [=](std::int64_t m, std::int64_t) { return std::abs(double{gradient[m]}); });
      case ImportanceMetric::kUpdate:
        return sum_of(spec, [=](std::int64_t m, std::int64_t f) {
          return std::abs(double{now[m]} - double{then[f]});
        });
      case ImportanceMetric::kLoss:
        break;
    }
    return sum_of(spec, [=](std::int64_t m, std::int64_t f) {
      return -double{gradient[m]} * (double{now[m]} - double{then[f]});
    });
  }

  // The other rows have no gradient and were not updated.
  double importance_of_rows(const WeightUpdate& u, const float* then) const {
    double sum = 0;
    for (std::size_t r = 0; r < u.rows.size(); ++r) {
      const std::int64_t at = u.rows[r] * u.row_elements;
      const float* gradient = u.gradient + static_cast<std::int64_t>(r) * u.row_elements;
      for (std::int64_t i = 0; i < u.row_elements; ++i) {
        const double change = double{u.weight[at + i]} - double{then[at + i]};
        if (metric_ == ImportanceMetric::kGradient) sum += std::abs(double{gradient[i]});
        if (metric_ == ImportanceMetric::kUpdate) sum += std::abs(change);
        if (metric_ == ImportanceMetric::kLoss) sum -= double{gradient[i]} * change;
      }
    }
    return sum;
  }

  const WeightMap& weights_;
  std::map<std::string, const WeightSpec*> specs_;
  bool updated_ = false;
  std::unique_ptr<Optimizer> optimizer_;
  const RateFactors factors_;
  const double learning_rate_;
  const ImportanceMetric metric_;
  std::map<std::string, double> importance_;
};

// Clipping is left out: it would shorten all updates alike. So is momentum, which has no part in a
// first step (Nesterov's has) and would want states. The probe's network is the CPU's: another
// processor was assigned steps of the training's network, and would keep the gradients to itself.
TrainerConfig probe_config(const TrainerConfig& config, std::int64_t samples) {
  TrainerConfig probe = config;
  probe.selection.clear();
  probe.batch = samples;
  probe.micro_batch = 0;
  probe.clip_norm = 0;
  probe.swap = {};
  probe.processors.clear();
  probe.assignment.clear();
  if (config.memory_budget_bytes != kNoMemoryBudget) probe.memory_budget_bytes = 0;
  if (!probe.optimizer.nesterov) probe.optimizer.momentum = 0;
  return probe;
}

Network probe_network(const ModelDescription& model, const std::set<std::string>* trainable_layers,
                      const TrainerConfig& config, std::int64_t samples, KernelSelector& kernels) {
  if (samples < 1) throw Error(ErrorCode::kInvalidArgument, "importance: the probe needs a sample");
  const TrainingPlanInput input =
      training_plan_input(model, trainable_layers, probe_config(config, samples));
  return Network(input.model, input.options, kernels);
}

}  // namespace

ImportanceProbe::ImportanceProbe(const ModelDescription& model,
                                 const std::set<std::string>* trainable_layers,
                                 const TrainerConfig& config, std::int64_t samples,
                                 KernelSelector& kernels)
    : config_(probe_config(config, samples)),
      samples_(samples),
      network_(probe_network(model, trainable_layers, config, samples, kernels)) {}

std::map<std::string, double> ImportanceProbe::measure(const WeightMap& weights,
                                                       double learning_rate, BatchSource& source,
                                                       std::span<const std::int64_t> indices,
                                                       ImportanceMetric metric) {
  if (static_cast<std::int64_t>(indices.size()) != samples_)
    throw Error(ErrorCode::kInvalidArgument, "importance: " + std::to_string(indices.size()) +
                                                 " samples for a probe of " +
                                                 std::to_string(samples_));
  network_.allocate();
  network_.load(weights);
  Probe probe(config_, network_.graph(), weights, learning_rate, metric);
  const NetworkBatch batch(network_, training_batch(network_.graph()));
  const auto step = [&] {
    source.read(indices, batch.batch());
    network_.train_step(/*random_key=*/config_.seed, &probe);
  };
  step();
  probe.all_updated();
  step();
  network_.release();
  return probe.take();
}

}  // namespace moil
