#include "engine/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "base/error.h"
#include "base/seconds.h"
#include "engine/model/ending.h"
#include "engine/model/preparation.h"
#include "engine/train/clip.h"
#include "engine/train/finite.h"
#include "engine/train/prefetcher.h"
#include "engine/train/weight_step.h"

namespace moil {
namespace {

std::set<std::string> all_layers(const ModelDescription& model) {
  std::set<std::string> names;
  for (const auto& layer : model.layers) names.insert(layer.name);
  return names;
}

// Looks at the elements that the update touched.
bool is_finite(const WeightUpdate& update) {
  if (!update.has_rows()) return all_finite(update.weight, update.elements);
  return std::all_of(update.rows.begin(), update.rows.end(), [&](std::int32_t row) {
    return all_finite(update.weight + row * update.row_elements, update.row_elements);
  });
}

double process_cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

std::int64_t micro_batch_of(const TrainerConfig& config) {
  return config.micro_batch > 0 ? config.micro_batch : config.batch;
}

std::int64_t steps_of_epoch(std::int64_t samples, const TrainerConfig& config) {
  if (samples >= config.batch) return samples / config.batch;
  throw Error(ErrorCode::kInvalidArgument, "a batch of " + std::to_string(config.batch) +
                                               " needs at least as many samples; there are " +
                                               std::to_string(samples));
}

RateFactors rate_factors_of(const Graph& graph, const TrainerConfig& config) {
  RateFactors factors;
  for (const Node& node : graph.nodes) {
    const auto factor = config.rate_factors.find(node.name);
    if (factor == config.rate_factors.end()) continue;
    for (const WeightSpec& spec : node.weights) factors[weight_name(node, spec)] = factor->second;
  }
  return factors;
}

TrainingPlanInput training_plan_input(const ModelDescription& model,
                                      const std::set<std::string>* trainable_layers,
                                      const TrainerConfig& config) {
  TrainingPlanInput input;
  LossDescription loss = config.loss;
  if (loss.type.empty()) loss = fitting_loss(complete_model(model));
  input.model =
      prepare_training(model, loss, trainable_layers ? *trainable_layers : all_layers(model));
  input.options.batch = micro_batch_of(config);
  input.options.swap_folder = config.swap_folder;
  PlanOptions& plan = input.options.plan;
  plan.training = true;
  plan.trainable =
      config.selection.empty() ? trainable_weights(model, trainable_layers) : config.selection;
  plan.clip_by_global_norm = config.clip_norm > 0;
  plan.optimizer_states = static_cast<int>(states_of_weight(config.optimizer));
  plan.micro_batches = static_cast<int>(config.batch / micro_batch_of(config));
  plan.swap = config.swap;
  plan.again = config.again;
  plan.narrow_saved = config.narrow_saved;
  plan.memory_budget_bytes = config.memory_budget_bytes;
  plan.processors = config.processors;
  plan.assignment = config.assignment;
  plan.updates_elsewhere = plan.row_gradients = config.optimizer.custom.empty();
  return input;
}

std::size_t prefetch_bytes(const Graph& graph) {
  std::size_t bytes = 0;
  for (const int v : graph.inputs) bytes += graph.values[static_cast<std::size_t>(v)].info.bytes();
  return 2 * bytes;
}

Trainer::Trainer(const ModelDescription& model, const std::set<std::string>* trainable_layers,
                 const TrainerConfig& config, KernelSelector& kernels)
    : Trainer(training_plan_input(model, trainable_layers, config), config, kernels) {}

Trainer::Trainer(const TrainingPlanInput& input, const TrainerConfig& config,
                 KernelSelector& kernels)
    : config_(config),
      optimizer_(make_optimizer(config.optimizer)),
      network_(input.model, input.options, kernels) {
  check(config.schedule);
  check_micro_batches();
  rate_factors_ = rate_factors_of(network_.graph(), config_);
}

void Trainer::check_micro_batches() const {
  const std::int64_t micro = micro_batch_of(config_);
  if (config_.batch % micro != 0) {
    throw Error(ErrorCode::kInvalidArgument, "a batch of " + std::to_string(config_.batch) +
                                                 " cannot be cut into micro-batches of " +
                                                 std::to_string(micro));
  }
  if (micro == config_.batch) return;
  for (std::size_t i = 0; i < network_.graph().nodes.size(); ++i) {
    if (!network_.plan().nodes[i].layer.mixes_samples) continue;
    throw Error(ErrorCode::kInvalidArgument,
                "layer \"" + network_.graph().nodes[i].name +
                    "\" normalises over its batch, or takes a mean of what counts in it, so that "
                    "micro-batches would train another model; freeze a norm, or keep the batch "
                    "whole");
  }
}

Trainer::~Trainer() = default;

std::size_t Trainer::planned_bytes() const {
  return network_.plan().memory.total_bytes + prefetch_bytes(network_.graph());
}

void Trainer::allocate(const WeightMap& weights) {
  network_.allocate();
  network_.load(weights);
}

bool Trainer::run(BatchSource& source, const Callbacks& callbacks) {
  const std::int64_t per_epoch = steps_of_epoch(source.size(), config_);
  const std::int64_t total = per_epoch * config_.epochs;
  std::vector<std::int64_t> order;  // outlives the prefetcher, which reads it
  const std::int64_t micro = micro_batch_of(config_), micros = config_.batch / micro;
  Prefetcher prefetcher(source, training_batch(network_.graph()), micro);
  while (state_.step < total) {
    const std::int64_t epoch = state_.step / per_epoch;
    order = callbacks.order(epoch);
    if (static_cast<std::int64_t>(order.size()) != source.size()) {
      throw Error(ErrorCode::kInvalidArgument, "the order of epoch " + std::to_string(epoch) +
                                                   " names " + std::to_string(order.size()) +
                                                   " samples; there are " +
                                                   std::to_string(source.size()));
    }
    const std::int64_t begin = epoch * per_epoch, end = begin + per_epoch;
    // Asks for the micro-batch of this number since the epoch began; for none behind its end.
    const auto request = [&](std::int64_t number) {
      if (number >= per_epoch * micros) return;
      prefetcher.request(std::span(order).subspan(static_cast<std::size_t>(number * micro),
                                                  static_cast<std::size_t>(micro)));
    };
    request((state_.step - begin) * micros);
    while (state_.step < end) {
      const auto start = std::chrono::steady_clock::now();
      const double cpu_start = process_cpu_seconds();
      rate_ = learning_rate(config_.schedule, config_.optimizer.learning_rate,
                            span_ ? scheduled_step(*span_, state_.step, total) : state_.step, total,
                            per_epoch);
      const std::int64_t first = (state_.step - begin) * micros;
      const double loss = step(prefetcher, [&](std::int64_t m) { request(first + m + 1); });
      ++state_.step;
      state_.loss_sum += loss;
      ++state_.loss_count;
      state_.seconds += seconds_since(start);
      state_.cpu_seconds += process_cpu_seconds() - cpu_start;
      if (state_.step == total) check_weights();  // no loss comes after it
      if (state_.step == end) {
        const EpochSummary summary{
            epoch + 1, state_.loss_sum / static_cast<double>(state_.loss_count), state_.seconds};
        state_.loss_sum = 0;
        state_.loss_count = 0;
        if (callbacks.on_epoch) callbacks.on_epoch(summary);
      }
      if (callbacks.on_step && !callbacks.on_step(state_.step, total, loss)) {
        check_weights();
        return state_.step == total;
      }
    }
  }
  return true;
}

double Trainer::step(Prefetcher& prefetcher,
                     const std::function<void(std::int64_t micro_batch)>& request_next) {
  const std::int64_t micro = micro_batch_of(config_), micros = config_.batch / micro;
  const std::uint64_t key =
      config_.seed * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(state_.step);
  share_ = 1.0 / static_cast<double>(micros);
  double loss = 0;
  for (std::int64_t m = 0; m < micros; ++m) {
    const BatchBuffer& next = prefetcher.take();
    request_next(m);
    next.copy_to(network_);
    network_.train_step(key, m + 1 == micros ? this : nullptr, m > 0, m * micro);
    loss += share_ * static_cast<double>(network_.output(0)[0]);
  }
  check_finite(loss);
  return loss;
}

void Trainer::check_finite(double loss) const {
  if (std::isfinite(loss) && not_finite_.empty()) return;
  throw_diverged(std::isfinite(loss) ? "the weight " + std::string(not_finite_) : "the loss",
                 state_.step + 1);
}

void Trainer::gradient_ready(const WeightUpdate& update) {
  const GradientView view{update.gradient, update.elements};
  const double norm = share_ * global_norm({&view, 1});
  square_sum_ += norm * norm;
}

void Trainer::all_gradients_ready() {
  clip_scale_ = clip_factor(std::sqrt(square_sum_), config_.clip_norm);
  square_sum_ = 0;
}

double Trainer::rate_of(std::string_view weight) const {
  const auto factor = rate_factors_.find(weight);
  return factor == rate_factors_.end() ? rate_ : rate_ * factor->second;
}

std::int64_t Trainer::count_update(std::string_view weight) {
  auto count = state_.updates.find(weight);
  if (count == state_.updates.end()) count = state_.updates.emplace(weight, 0).first;
  return ++count->second;
}

void Trainer::apply(const WeightUpdate& update) {
  OptimizerStep step = optimizer_step(update);
  step.learning_rate = rate_of(update.name);
  step.gradient_scale = share_ * clip_scale_;
  step.step = count_update(update.name);
  optimizer_->apply(step);
  if (update.elsewhere)
    unchecked_ = true;  // bringing it here each step would cost more than the step
  else if (!is_finite(update))
    not_finite_ = update.name;
}

void Trainer::check_weights() {
  if (!unchecked_) return;
  for (const PersistentTensor& tensor : network_.persistent()) {
    if (tensor.kind != TensorKind::kWeight) continue;
    const PersistentTensor::Data data = tensor.data();
    if (!all_finite(data.values.data(), static_cast<std::int64_t>(data.values.size())))
      throw_diverged("the weight " + tensor.name, state_.step);
  }
  unchecked_ = false;
}

}  // namespace moil
