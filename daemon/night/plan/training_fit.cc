#include "daemon/night/plan/training_fit.h"

#include <algorithm>

#include "daemon/night/data/field_error.h"
#include "daemon/night/plan/memory_forecast.h"
#include "daemon/night/plan/trainer_settings.h"
#include "daemon/night/plan/training_method.h"
#include "engine/model/surgery.h"
#include "engine/train/swap_calibration.h"

namespace moil::night {
namespace {

// What training may take of the job's budget.
std::size_t budget_for_training(const NightModel& night, const NightPlanInput& input) {
  const auto budget = static_cast<std::size_t>(*input.spec.memory.budget_bytes);
  const bool cached = input.spec.cache.enabled && !night.backbone->is_identity();
  const MemoryForecast forecast = forecast_memory(night, cached);
  const std::size_t others = forecast.total();
  if (others > budget) {
    throw field_error("/memory/budget_bytes",
                      "the night needs " + std::to_string(others) +
                          " bytes beside training; memory.budget_bytes allows " +
                          std::to_string(budget) +
                          "; fewer trainable layers, or a smaller model, need less");
  }
  const std::size_t beside = night.judges_while_training ? forecast.judging : forecast.training;
  const std::size_t timed = night.elastic ? night.head_bytes : 0;
  const std::size_t rest =
      budget - (forecast.libraries + forecast.weights + forecast.samples + beside);
  return rest - std::min(rest, timed);
}

// All that is trained before the classifier learns at its own rate.
std::map<std::string, double> rate_factors(const NightModel& night, double backbone_factor) {
  std::map<std::string, double> factors;
  if (backbone_factor == 1) return factors;
  const std::string classifier = find_classifier(night.head);
  for (const std::string& layer : night.freeze.trainable_layers)
    if (layer != classifier) factors[layer] = backbone_factor;
  return factors;
}

TrainerConfig fitted_config(const NightModel& night, const NightPlanInput& input) {
  TrainerConfig config =
      trainer_config(input.spec, input.mix.train.size(), night.bundle.task->loss(night.head));
  config.swap_folder = input.swap_folder;
  config.processors = input.training.processors;
  config.assignment = input.training.assignment;
  config.rate_factors = rate_factors(night, input.spec.train.optimizer.backbone_factor);
  config.selection =
      selection_of(input.spec.train.method, night.head, night.freeze.trainable_layers);
  if (input.memory) {
    config.micro_batch = input.memory->micro_batch;
    config.again = input.memory->again;
    config.swap = input.memory->swap;
    config.memory_budget_bytes = input.memory->memory_budget_bytes;
    return config;
  }
  const auto& swap = input.spec.swap;
  config.swap.mode = swap_mode_of(swap.mode);
  if (!input.spec.memory.budget_bytes) {  // nothing to fit into: the fastest kernels
    config.memory_budget_bytes = kNoMemoryBudget;
    return config;
  }
  FitOptions fit;
  fit.budget_bytes = budget_for_training(night, input);
  // Each selection is a plan of its own: transfers measured for one would not serve another.
  fit.may_swap = swap.mode == daemon::SwapWhen::kAuto && !night.elastic;
  fit.steps = night.steps;
  fit.max_write_bytes = most_written(input.spec);
  return at_field("/memory/budget_bytes", [&] {
    const auto* layers = &night.freeze.trainable_layers;
    const std::vector<MemoryFit> fits =
        fits_of_training(night.head, layers, config, fit, *night.trainer_kernels);
    const bool choose = !input.dry && (fits.size() > 1 || !fits[0].config.again.empty());
    if (!choose) return fits[0].config;
    return fastest_of(night.head, layers, fits, fit.budget_bytes, *night.trainer_kernels);
  });
}

void plan_probe(NightModel& night, const NightPlanInput& input, const TrainerConfig& config) {
  const auto samples = std::min(static_cast<std::int64_t>(input.mix.train.size()),
                                std::int64_t{input.spec.elastic->probe_samples});
  night.probe = std::make_unique<ImportanceProbe>(night.head, &night.freeze.trainable_layers,
                                                  config, samples, *night.trainer_kernels);
  // The weights as they are wait beside it, and the optimizer's states.
  night.choosing_bytes =
      night.probe->planned_bytes() + (1 + states_of_weight(config.optimizer)) * night.head_bytes;
}

// With transfers as long as they take here; unchanged if no layout fits then.
TrainerConfig with_swap_times(const NightModel& night, const NightPlanInput& input,
                              const TrainerConfig& config) {
  const auto* layers = &night.freeze.trainable_layers;
  TrainerConfig timed = config;
  timed.swap.times = measure_swap_times(night.head, layers, config, *night.trainer_kernels);
  if (!input.spec.memory.budget_bytes) return timed;
  return refit_swap(night.head, layers, timed, budget_for_training(night, input),
                    *night.trainer_kernels)
      .value_or(config);
}

}  // namespace

// What choosing, or bringing the weights, takes beside the plan that was fitted.
void check_budget(const NightModel& night, const NightPlanInput& input) {
  if (!input.spec.memory.budget_bytes) return;
  const bool cached = input.spec.cache.enabled && !night.backbone->is_identity();
  const std::size_t needed = forecast_memory(night, cached).total();
  if (needed <= static_cast<std::size_t>(*input.spec.memory.budget_bytes)) return;
  throw field_error("/memory/budget_bytes",
                    "the night needs " + std::to_string(needed) +
                        " bytes at least; memory.budget_bytes allows " +
                        std::to_string(*input.spec.memory.budget_bytes) +
                        "; fewer trainable layers, or a smaller model, need less");
}

void plan_trainer(NightModel& night, const NightPlanInput& input) {
  TrainerConfig config = fitted_config(night, input);
  const auto* layers = &night.freeze.trainable_layers;
  const bool measures = config.swap.mode == SwapMode::kProactive && !input.memory && !input.dry;
  if (measures) config = with_swap_times(night, input, config);
  night.trainer = at_field("/train/micro_batch", [&] {
    return std::make_unique<Trainer>(night.head, layers, config, *night.trainer_kernels);
  });
  night.training_memory = {config.micro_batch, config.again, config.swap,
                           config.memory_budget_bytes};
  if (night.elastic) {
    plan_probe(night, input, config);
    // No selection needs more than training everything.
    night.elastic->memory_limit_bytes = night.trainer->planned_bytes();
  }
  const SwapTraffic of_step = night.trainer->network().plan().traffic();
  const auto steps = static_cast<std::uint64_t>(night.steps);
  night.swap_read_bytes = steps * of_step.read_bytes;
  night.swap_written_bytes = steps * of_step.written_bytes;
  at_field("/swap/max_write_bytes",
           [&] { check_swap_writes(night.swap_written_bytes, most_written(input.spec)); });
  check_budget(night, input);
}

nlohmann::json to_json(const TrainingMemory& memory) {
  const SwapTimes& times = memory.swap.times;
  return {{"micro_batch", memory.micro_batch},
          {"again", memory.again},
          {"memory_budget_bytes", memory.memory_budget_bytes},
          {"swap",
           {{"mode", to_string(memory.swap.mode)},
            {"budget_bytes", memory.swap.budget_bytes},
            {"order_seconds", times.order_seconds},
            {"read_bytes_per_second", times.read_bytes_per_second},
            {"write_bytes_per_second", times.write_bytes_per_second}}}};
}

TrainingMemory training_memory_from_json(const nlohmann::json& json) {
  TrainingMemory memory;
  memory.micro_batch = json.at("micro_batch");
  memory.again = json.value("again", std::set<std::string>{});  // none before there were any
  memory.memory_budget_bytes = json.at("memory_budget_bytes");
  const auto& swap = json.at("swap");
  memory.swap.mode = swap_mode(swap.at("mode").get<std::string>());
  memory.swap.budget_bytes = swap.at("budget_bytes");
  memory.swap.times.order_seconds = swap.at("order_seconds").get<std::vector<double>>();
  memory.swap.times.read_bytes_per_second = swap.at("read_bytes_per_second");
  memory.swap.times.write_bytes_per_second = swap.at("write_bytes_per_second");
  return memory;
}

}  // namespace moil::night
