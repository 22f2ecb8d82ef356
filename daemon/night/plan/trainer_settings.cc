#include "daemon/night/plan/trainer_settings.h"

#include <algorithm>

namespace moil::night {
namespace {

OptimizerConfig optimizer_config(const daemon::OptimizerSpec& spec) {
  static constexpr OptimizerKind kKinds[] = {OptimizerKind::kSgd, OptimizerKind::kSgdw,
                                             OptimizerKind::kAdam, OptimizerKind::kAdamw};
  OptimizerConfig config;
  config.kind = kKinds[static_cast<int>(spec.type)];
  config.learning_rate = spec.learning_rate;
  config.weight_decay = spec.weight_decay;
  // Only for a kind that takes one; what an older build stored may name one for the others, too.
  if (const double usual = default_momentum(config.kind); usual > 0) {
    config.momentum = spec.momentum.value_or(usual);
    config.nesterov = spec.nesterov;
  }
  config.beta1 = spec.beta1.value_or(config.beta1);
  config.beta2 = spec.beta2.value_or(config.beta2);
  config.epsilon = spec.epsilon.value_or(config.epsilon);
  return config;
}

constexpr double kStepEpochs = 10;  // if a job names none

ScheduleConfig schedule_config(const daemon::ScheduleSpec& spec, double learning_rate) {
  static constexpr ScheduleKind kKinds[] = {ScheduleKind::kConstant, ScheduleKind::kStep,
                                            ScheduleKind::kCosine, ScheduleKind::kExponential};
  ScheduleConfig config;
  config.kind = kKinds[static_cast<int>(spec.type)];
  config.gamma = spec.gamma.value_or(config.gamma);
  config.step_epochs = spec.step_epochs.value_or(kStepEpochs);
  config.final_rate = spec.final_fraction.value_or(0) * learning_rate;
  config.warmup_epochs = spec.warmup_epochs;
  return config;
}

// A step's samples, in equal parts of at most `most`: of all divisors the largest, if that is more
// than half of what may be. If there is none, as of a prime number, the few samples that equal
// parts leave over are left out.
void cut_batch(TrainerConfig& config, std::int64_t most) {
  for (std::int64_t part = std::min(most, config.batch); 2 * part > most; --part) {
    if (config.batch % part != 0) continue;
    config.micro_batch = part;
    return;
  }
  const std::int64_t parts = (config.batch + most - 1) / most;
  config.micro_batch = config.batch / parts;
  config.batch = parts * config.micro_batch;
}

}  // namespace

TrainerConfig trainer_config(const daemon::JobSpec& spec, std::size_t samples,
                             LossDescription loss) {
  TrainerConfig config;
  config.loss = std::move(loss);
  config.optimizer = optimizer_config(spec.train.optimizer);
  config.schedule = schedule_config(spec.train.schedule, spec.train.optimizer.learning_rate);
  config.clip_norm = spec.train.clip_norm.value_or(0);
  config.batch = std::min<std::int64_t>(spec.train.batch, static_cast<std::int64_t>(samples));
  if (spec.train.micro_batch) cut_batch(config, *spec.train.micro_batch);
  config.epochs = spec.train.epochs;
  config.narrow_saved = spec.memory.saved == daemon::StoredFloats::kBf16;
  config.seed = spec.seed;
  return config;
}

ElasticConfig elastic_config(const daemon::ElasticSpec& spec) {
  static constexpr ImportanceMetric kMetrics[] = {
      ImportanceMetric::kLoss, ImportanceMetric::kGradient, ImportanceMetric::kUpdate};
  ElasticConfig config;
  config.speedup_ratio = spec.rho;
  config.pace = spec.pace == daemon::ElasticPace::kEven ? Pace::kEven : Pace::kFront;
  config.interval_epochs = spec.interval_epochs;
  config.resolution = spec.resolution;
  config.metric = kMetrics[static_cast<int>(spec.importance)];
  config.follow_speed = spec.follow_speed;
  return config;
}

SwapMode swap_mode_of(daemon::SwapWhen when) {
  static constexpr SwapMode kModes[] = {SwapMode::kOff, SwapMode::kOff, SwapMode::kOnDemand,
                                        SwapMode::kReduced, SwapMode::kProactive};
  return kModes[static_cast<int>(when)];
}

std::optional<std::uint64_t> most_written(const daemon::JobSpec& spec) {
  if (!spec.swap.max_write_bytes) return std::nullopt;
  return static_cast<std::uint64_t>(*spec.swap.max_write_bytes);
}

}  // namespace moil::night
