#include "daemon/night/night_model.h"

#include <algorithm>

#include "engine/graph/realizers/realizers.h"
#include "engine/graph/surgery.h"

namespace moil::night {
namespace {

OptimizerConfig optimizer_config(const daemon::OptimizerSpec& spec) {
  static constexpr OptimizerKind kKinds[] = {OptimizerKind::kSgd, OptimizerKind::kSgdw,
                                             OptimizerKind::kAdam, OptimizerKind::kAdamw};
  OptimizerConfig config;
  config.kind = kKinds[static_cast<int>(spec.type)];
  config.learning_rate = spec.learning_rate;
  config.weight_decay = spec.weight_decay;
  config.momentum = spec.momentum;
  config.nesterov = spec.nesterov;
  config.beta1 = spec.beta1;
  config.beta2 = spec.beta2;
  config.epsilon = spec.epsilon;
  return config;
}

ScheduleConfig schedule_config(const daemon::ScheduleSpec& spec, double learning_rate) {
  static constexpr ScheduleKind kKinds[] = {ScheduleKind::kConstant, ScheduleKind::kStep,
                                            ScheduleKind::kCosine, ScheduleKind::kExponential};
  ScheduleConfig config;
  config.kind = kKinds[static_cast<int>(spec.type)];
  config.gamma = spec.gamma;
  config.step_epochs = std::max<std::int64_t>(1, static_cast<std::int64_t>(spec.step_epochs));
  config.final_rate = spec.final_fraction * learning_rate;
  config.warmup_epochs = spec.warmup_epochs;
  return config;
}

std::unique_ptr<KernelSelector> make_kernels(const daemon::JobSpec& spec,
                                             const KernelChoices& recorded,
                                             const KernelChoices& profile) {
  KernelSelector::Options options;
  options.exact_arithmetic = spec.exact_arithmetic;
  return std::make_unique<KernelSelector>(options, recorded, profile);
}

KernelChoices joined(KernelChoices all, const KernelChoices& more) {
  all.insert(more.begin(), more.end());
  return all;
}

}  // namespace

TrainerConfig trainer_config(const daemon::JobSpec& spec, std::size_t samples) {
  TrainerConfig config;
  config.optimizer = optimizer_config(spec.train.optimizer);
  config.schedule = schedule_config(spec.train.schedule, spec.train.optimizer.learning_rate);
  config.clip_norm = spec.train.clip_norm.value_or(0);
  config.batch = std::min<std::int64_t>(spec.train.batch, static_cast<std::int64_t>(samples));
  config.epochs = spec.train.epochs;
  config.seed = spec.seed;
  return config;
}

NightModel plan_night(const ModelBundle& base, const data::Mix& mix, const daemon::JobSpec& spec,
                      const KernelChoices& recorded, const KernelChoices& profile) {
  NightModel night;
  night.bundle = base;
  grow_classifier(night.bundle.description, night.bundle.weights,
                  static_cast<std::int64_t>(mix.classes.size()), spec.seed);
  night.bundle.labels = mix.classes;
  const ModelDescription& model = night.bundle.description;
  night.freeze = freeze_all_but_last(model, spec.freeze.trainable_layers.count);
  night.head = night.freeze.split.empty()
                   ? model
                   : realize_slice(model, night.freeze.split, night.freeze.split_dims).head;
  night.backbone_kernels = make_kernels(spec, recorded, profile);
  night.trainer_kernels = make_kernels(spec, recorded, profile);
  night.backbone = std::make_unique<Backbone>(model, night.bundle.weights, night.freeze,
                                              kBackboneBatch, *night.backbone_kernels);
  if (night.freeze.trained_units > 0) {
    night.trainer =
        std::make_unique<Trainer>(night.head, &night.freeze.trainable_layers,
                                  trainer_config(spec, mix.train.size()), *night.trainer_kernels);
  }
  return night;
}

KernelChoices NightModel::choices() const {
  return joined(backbone_kernels->choices(), trainer_kernels->choices());
}

KernelChoices NightModel::kernel_profile() const {
  return joined(backbone_kernels->profile(), trainer_kernels->profile());
}

std::string NightModel::cache_fingerprint() const {
  return backbone->fingerprint() + " at " + freeze.split;
}

std::size_t mapped_bytes(std::size_t samples, std::size_t elements) {
  constexpr std::size_t kPage = 4096, kOverhead = 128;  // header, key, a share of the tree
  const std::size_t value = elements * sizeof(float) + kOverhead;
  const std::size_t entry =
      value > kPage / 2 ? (value + kPage - 1) / kPage * kPage + kOverhead : 2 * value;
  return samples * entry;
}

std::size_t MemoryForecast::total() const {
  return libraries + weights + std::max({caching, training, judging});
}

MemoryForecast forecast_memory(const NightModel& night, const data::Mix& mix, bool cached) {
  constexpr std::size_t kCacheWriter = 12 << 20;  // LMDB's dirty pages of a batch, and the batch
  const std::size_t samples =
      mix.train.size() + mix.global_validation.size() + mix.local_validation.size();
  const std::size_t elements = night.backbone->feature_elements();
  const auto batch = static_cast<std::size_t>(night.backbone->batch());
  const std::size_t computing =
      night.backbone->planned_bytes() +
      batch * (night.backbone->input_elements() + elements) * sizeof(float);
  const std::size_t mapped = cached ? mapped_bytes(samples, elements) : 0;
  const std::size_t own = weight_bytes(night.bundle.weights);
  MemoryForecast forecast;
  forecast.weights = 3 * own;  // the base, the grown, and the backbone's folded
  forecast.caching = cached ? computing + mapped + kCacheWriter : 0;
  const std::size_t source = cached ? mapped : computing;
  forecast.training = (night.trainer ? night.trainer->planned_bytes() : 0) + source;
  // Judging: the trained weights, folded ones, and an inference network of the head.
  forecast.judging =
      forecast.training + 3 * own + 4 * batch * (elements + mix.classes.size()) * sizeof(float);
  return forecast;
}

}  // namespace moil::night
