#include "engine/train/trainer.h"

#include <chrono>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "engine/graph/preparation.h"
#include "engine/train/clip.h"
#include "engine/train/prefetcher.h"

namespace moil {
namespace {

std::set<std::string> all_layers(const ModelDescription& model) {
  std::set<std::string> names;
  for (const auto& layer : model.layers) names.insert(layer.name);
  return names;
}

ModelDescription training_model(const ModelDescription& model, const std::set<std::string>* layers,
                                const std::string& loss) {
  return prepare_training(model, loss, layers ? *layers : all_layers(model));
}

NetworkOptions network_options(const ModelDescription& model, const std::set<std::string>* layers,
                               const TrainerConfig& config, const Optimizer& optimizer) {
  NetworkOptions options{.batch = config.batch, .plan = {}};
  options.plan.training = true;
  options.plan.trainable = trainable_weights(model, layers);
  options.plan.orders.clip_by_global_norm = config.clip_norm > 0;
  options.plan.optimizer_states = static_cast<int>(optimizer.state_tensors().size());
  return options;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Trainer::Trainer(const ModelDescription& model, const std::set<std::string>* trainable_layers,
                 const TrainerConfig& config, KernelSelector& kernels)
    : config_(config),
      optimizer_(make_optimizer(config.optimizer)),
      network_(training_model(model, trainable_layers, config.loss),
               network_options(model, trainable_layers, config, *optimizer_), kernels) {
  check(config.schedule);
  if (network_.inputs() != 2) {  // the model's, and the target
    throw Error(ErrorCode::kInvalidArgument, "training needs a model of one input; \"" +
                                                 model.name + "\" has " +
                                                 std::to_string(model.inputs.size()));
  }
}

Trainer::~Trainer() = default;

std::size_t Trainer::planned_bytes() const {
  const auto batch_bytes = network_.input_info(0).bytes() + network_.input_info(1).bytes();
  return network_.plan().memory.total_bytes + 2 * batch_bytes;
}

void Trainer::allocate(const WeightMap& weights) {
  network_.allocate();
  network_.load(weights);
}

bool Trainer::run(BatchSource& source, const Callbacks& callbacks) {
  const std::int64_t per_epoch = steps_per_epoch(source.size());
  if (per_epoch < 1) {
    throw Error(ErrorCode::kInvalidArgument, "a batch of " + std::to_string(config_.batch) +
                                                 " needs at least as many samples; there are " +
                                                 std::to_string(source.size()));
  }
  const std::int64_t total = per_epoch * config_.epochs;
  const auto elements = [&](std::size_t i) {
    return network_.input_info(i).dims.elements_per_sample();
  };
  std::vector<std::int64_t> order;  // outlives the prefetcher, which reads it
  Prefetcher prefetcher(source, config_.batch, elements(0), elements(1));
  const auto batch = static_cast<std::size_t>(config_.batch);
  while (state_.step < total) {
    const std::int64_t epoch = state_.step / per_epoch;
    order = callbacks.order(epoch);
    if (static_cast<std::int64_t>(order.size()) != source.size()) {
      throw Error(ErrorCode::kInvalidArgument, "the order of epoch " + std::to_string(epoch) +
                                                   " names " + std::to_string(order.size()) +
                                                   " samples; there are " +
                                                   std::to_string(source.size()));
    }
    const auto samples_of = [&](std::int64_t s) {
      return std::span(order).subspan(static_cast<std::size_t>(s % per_epoch) * batch, batch);
    };
    const std::int64_t end = (epoch + 1) * per_epoch;
    prefetcher.request(samples_of(state_.step));
    while (state_.step < end) {
      const auto start = std::chrono::steady_clock::now();
      const auto next = prefetcher.take();
      if (state_.step + 1 < end) prefetcher.request(samples_of(state_.step + 1));
      rate_ = learning_rate(config_.schedule, config_.optimizer.learning_rate, state_.step, total,
                            per_epoch);
      const double loss = step(next.inputs, next.targets);
      ++state_.step;
      state_.loss_sum += loss;
      ++state_.loss_count;
      state_.seconds += seconds_since(start);
      const bool epoch_ends = state_.step == end;
      if (epoch_ends) {
        const EpochSummary summary{
            epoch + 1, state_.loss_sum / static_cast<double>(state_.loss_count), state_.seconds};
        state_.loss_sum = 0;
        state_.loss_count = 0;
        if (callbacks.on_epoch) callbacks.on_epoch(summary);
      }
      if (callbacks.on_step && !callbacks.on_step(state_.step, total, loss))
        return state_.step == total;
    }
  }
  return true;
}

double Trainer::step(const float* inputs, const float* targets) {
  std::memcpy(network_.input(0), inputs, network_.input_info(0).bytes());
  std::memcpy(network_.input(1), targets, network_.input_info(1).bytes());
  const std::uint64_t key =
      config_.seed * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(state_.step);
  network_.train_step(key, this);
  const double loss = network_.output(0)[0];
  if (!std::isfinite(loss)) {
    throw Error(ErrorCode::kFailedPrecondition,
                "the loss is not a number after step " + std::to_string(state_.step + 1) +
                    "; a smaller learning rate or clip_norm may help");
  }
  return loss;
}

void Trainer::gradient_ready(const WeightUpdate& update) {
  const GradientView view{update.gradient, update.elements};
  const double norm = global_norm({&view, 1});
  square_sum_ += norm * norm;
}

void Trainer::all_gradients_ready() {
  clip_scale_ = clip_factor(std::sqrt(square_sum_), config_.clip_norm);
  square_sum_ = 0;
}

void Trainer::apply(const WeightUpdate& update) {
  optimizer_->apply({update.weight, update.gradient, update.states, update.elements, update.decays,
                     rate_, clip_scale_, state_.step + 1});
}

}  // namespace moil
