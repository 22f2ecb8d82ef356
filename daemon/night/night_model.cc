#include "daemon/night/night_model.h"

#include <algorithm>

#include "base/error.h"
#include "daemon/night/field_error.h"
#include "daemon/night/head_network.h"
#include "daemon/night/head_slice.h"
#include "daemon/night/training_method.h"
#include "engine/graph/surgery.h"
#include "engine/train/swap_calibration.h"
#include "featurecache/cache.h"

namespace moil::night {
namespace {

OptimizerConfig optimizer_config(const daemon::OptimizerSpec& spec) {
  static constexpr OptimizerKind kKinds[] = {OptimizerKind::kSgd, OptimizerKind::kSgdw,
                                             OptimizerKind::kAdam, OptimizerKind::kAdamw};
  OptimizerConfig config;
  config.kind = kKinds[static_cast<int>(spec.type)];
  config.learning_rate = spec.learning_rate;
  config.weight_decay = spec.weight_decay;
  // Of a kind that takes one; what was stored by an older build may name one for the others, too.
  if (const double usual = default_momentum(config.kind); usual > 0) {
    config.momentum = spec.momentum.value_or(usual);
    config.nesterov = spec.nesterov;
  }
  config.beta1 = spec.beta1.value_or(config.beta1);
  config.beta2 = spec.beta2.value_or(config.beta2);
  config.epsilon = spec.epsilon.value_or(config.epsilon);
  return config;
}

constexpr double kStepEpochs = 10;  // where a job names none

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

std::unique_ptr<KernelSelector> make_kernels(const NightPlanInput& input) {
  KernelSelector::Options options;
  options.exact_arithmetic = input.spec.exact_arithmetic;
  options.measure = !input.dry;
  options.time = input.measuring;
  return std::make_unique<KernelSelector>(options, input.recorded, input.profile);
}

// A step's samples, in equal parts of at most `most`: of all divisors the largest, if that is more
// than half of what may be. Where there is none, as of a prime number, the few samples that equal
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

KernelChoices joined(KernelChoices all, const KernelChoices& more) {
  all.insert(more.begin(), more.end());
  return all;
}

}  // namespace

TrainerConfig trainer_config(const daemon::JobSpec& spec, std::size_t samples,
                             LossDescription loss) {
  TrainerConfig config;
  config.loss = std::move(loss);
  config.loss.weighted = spec.train.sampling == daemon::Sampling::kImportance;
  config.optimizer = optimizer_config(spec.train.optimizer);
  config.schedule = schedule_config(spec.train.schedule, spec.train.optimizer.learning_rate);
  config.clip_norm = spec.train.clip_norm.value_or(0);
  config.batch = std::min<std::int64_t>(spec.train.batch, static_cast<std::int64_t>(samples));
  if (spec.train.micro_batch) cut_batch(config, *spec.train.micro_batch);
  config.epochs = spec.train.epochs;
  config.seed = spec.seed;
  return config;
}

namespace {

SwapMode swap_mode_of(daemon::SwapWhen when) {
  static constexpr SwapMode kModes[] = {SwapMode::kOff, SwapMode::kOff, SwapMode::kOnDemand,
                                        SwapMode::kReduced, SwapMode::kProactive};
  return kModes[static_cast<int>(when)];
}

std::optional<std::uint64_t> most_written(const daemon::JobSpec& spec) {
  if (!spec.swap.max_write_bytes) return std::nullopt;
  return static_cast<std::uint64_t>(*spec.swap.max_write_bytes);
}

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
  config.processor = input.training.processor;
  config.assignment = input.training.assignment;
  config.rate_factors = rate_factors(night, input.spec.train.optimizer.backbone_factor);
  config.selection =
      selection_of(input.spec.train.method, night.head, night.freeze.trainable_layers);
  if (input.memory) {
    config.micro_batch = input.memory->micro_batch;
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
    return fit_training(night.head, &night.freeze.trainable_layers, config, fit,
                        *night.trainer_kernels)
        .config;
  });
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

void plan_probe(NightModel& night, const NightPlanInput& input, const TrainerConfig& config) {
  const auto samples = std::min(static_cast<std::int64_t>(input.mix.train.size()),
                                std::int64_t{input.spec.elastic->probe_samples});
  night.probe = std::make_unique<ImportanceProbe>(night.head, &night.freeze.trainable_layers,
                                                  config, samples, *night.trainer_kernels);
  // The weights as they are wait beside it, and the optimizer's states.
  night.choosing_bytes =
      night.probe->planned_bytes() + (1 + states_of_weight(config.optimizer)) * night.head_bytes;
}

// With transfers as long as they take here; as it was where no layout fits then.
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

// With a cache samples are read before anything trains, and may take what is left. Without one they
// are read beside training, which gets the other half.
std::size_t plan_decoding(const NightModel& night, const NightPlanInput& input) {
  if (!input.spec.memory.budget_bytes) return choose_room(input.decoding, std::nullopt);
  const auto budget = static_cast<std::size_t>(*input.spec.memory.budget_bytes);
  const bool cached = input.spec.cache.enabled && !night.backbone->is_identity();
  const MemoryForecast f = forecast_memory(night, cached);
  const std::size_t others = cached ? f.libraries + f.weights + f.samples + f.caching : f.total();
  const std::size_t left = budget - std::min(budget, others);
  return choose_room(input.decoding, cached ? left : left / 2);
}

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
  night.training_memory = {config.micro_batch, config.swap, config.memory_budget_bytes};
  if (night.elastic) {
    plan_probe(night, input, config);
    // No selection needs more than training everything.
    night.elastic->memory_limit_bytes = night.trainer->planned_bytes();
  }
  const NetworkPlan& plan = night.trainer->network().plan();
  const SwapTraffic pass = traffic(plan.pool, plan.stays);
  const auto passes = static_cast<std::uint64_t>(night.steps) *
                      static_cast<std::uint64_t>(config.batch / micro_batch_of(config));
  night.swap_read_bytes = passes * pass.read_bytes;
  night.swap_written_bytes = passes * pass.written_bytes;
  at_field("/swap/max_write_bytes",
           [&] { check_swap_writes(night.swap_written_bytes, most_written(input.spec)); });
  check_budget(night, input);
}

// What is kept of samples while they are judged.
std::size_t answers_bytes(const NightModel& night, const data::Mix& mix) {
  constexpr std::size_t kOfASample = 2 * 256;  // its calibration, what is said of it, its parts
  constexpr std::size_t kOfALabel = 1024;      // counts by threshold or by side
  const std::size_t labels = night.bundle.labels.size();
  const std::size_t held_out = mix.global_validation.size() + mix.local_validation.size();
  const std::size_t kept = held_out * kOfASample + labels * kOfALabel;
  if (!night.bundle.task->compares_samples()) return kept;
  const std::size_t answer_and_target = 2 * labels * sizeof(float);
  // Global samples are compared with local ones, too; vectors grow to twice their size.
  return kept +
         2 * answer_and_target * (2 * mix.global_validation.size() + mix.local_validation.size());
}

// Rows for labels that the model does not know.
void grow(StoredModel& model, const std::vector<std::string>& classes, std::uint64_t seed) {
  const std::string classifier = find_classifier(model.description) + ".";
  WeightMap weights;
  for (const auto& [name, dims] : model.weights.shapes())
    if (name.starts_with(classifier)) weights[name] = model.weights.read(name);
  const auto rows = static_cast<std::int64_t>(classes.size());
  if (classifier_classes(model.description) != rows) {
    grow_classifier(model.description, weights, rows, seed);
    for (auto& [name, tensor] : weights) model.weights.change(name, std::move(tensor));
  }
  model.labels = classes;
}

// Where there is not the memory for it, a night begins with random rows.
void plan_rows(NightModel& night, const NightPlanInput& input) {
  night.imprint = plan_imprint(input.base, night.base_head, input.mix, input.spec);
  if (!night.imprint) return;
  night.imprint_bytes = night.imprint->bytes;
  if (!night.imprint->front.layers.empty())
    night.imprint_bytes += HeadNetwork(night.imprint->front, *night.trainer_kernels).peak_bytes();
  const auto& budget = input.spec.memory.budget_bytes;
  const bool cached = input.spec.cache.enabled && !night.backbone->is_identity();
  if (!budget || input.spec.train.epochs == 0 ||
      forecast_memory(night, cached).total() <= static_cast<std::size_t>(*budget))
    return;
  night.imprint.reset();
  night.imprint_bytes = 0;
}

// What becomes of what is known of the model before the night.
void plan_version(NightModel& night, const NightPlanInput& input) {
  night.bundle.calibration.reset();
  std::vector<std::string>& imprinted = night.bundle.imprinted;
  if (night.trainer) imprinted.clear();
  if (night.trainer || !night.imprint) return;
  for (const data::ClassId row : night.imprint->rows) {
    const std::string& label = input.mix.classes.at(row);
    if (std::ranges::find(imprinted, label) == imprinted.end()) imprinted.push_back(label);
  }
}

void require_rows(const NightModel& night, const NightPlanInput& input) {
  if (night.imprint) return;
  if (!input.base.task->outputs_are_labels() || !classifier_input(input.base.description))
    throw field_error("/train/epochs",
                      "with 0 epochs rows of new labels are made of samples, and this model's "
                      "classifier has none that can be; give epochs, and they are trained");
  throw field_error("/train/epochs",
                    "with 0 epochs only labels that the model does not know yet are learned, and "
                    "there is no training sample of one; label some (\"moilctl label add\")");
}

}  // namespace

namespace {

// Where rows may be imprinted, or the task chooses something by training samples.
bool asks_plain(const NightPlanInput& input) {
  const Task& task = *input.base.task;
  if (task.fitting({}) != nullptr) return true;
  if (!task.outputs_are_labels()) return false;
  return input.spec.train.epochs == 0 || input.mix.classes.size() > input.base.labels.size();
}

MapNeeds map_needs(const NightPlanInput& input) {
  const daemon::JobSpec& spec = input.spec;
  const bool halves = spec.cache.dtype == daemon::CacheDtype::kBf16;
  const Portion trained = trained_portion(input.mix, spec, asks_plain(input));
  return {count_maps(input.mix, trained, spec.augment.views, *input.base.kind), halves ? 2U : 4U,
          *input.map_room};
}

// Feature maps that would not fit are of a value further back.
void place_split(NightModel& night, const NightPlanInput& input) {
  if (!input.map_room || !input.spec.cache.enabled || night.freeze.split.empty()) return;
  const ModelDescription& model = night.bundle.description;
  night.maps = input.map_split.empty()
                   ? choose_map_split(model, night.freeze, map_needs(input))
                   : known_map_split(model, night.freeze, map_needs(input), input.map_split);
  night.freeze.split = night.maps->value;
  night.freeze.split_dims = night.maps->dims;
}

// On the CPU, too, where the budget has no room for what another processor needs beside its own.
void place_backbone(NightModel& night, const NightPlanInput& input) {
  if (input.processors == nullptr || night.backbone->is_identity()) return;
  const Placement placement = input.processors->for_maps(night.backbone->inference_model(),
                                                         kBackboneBatch, *night.backbone_kernels);
  night.map_processors = placement.record;
  if (placement.assignment.empty()) return;
  night.backbone->place(placement.processor, placement.assignment);
  const std::size_t before = night.driver_bytes;
  night.driver_bytes = std::max(before, placement.driver_bytes());
  const auto& budget = input.spec.memory.budget_bytes;
  if (!budget ||
      forecast_memory(night, input.spec.cache.enabled).total() <= static_cast<std::size_t>(*budget))
    return;
  night.backbone->place(nullptr, {});
  night.driver_bytes = before;
  night.map_processors.update(on_cpu("memory.budget_bytes has no room for another processor's"));
}

}  // namespace

NightModel plan_night(const NightPlanInput& input) {
  const daemon::JobSpec& spec = input.spec;
  NightModel night;
  night.bundle = input.base;
  if (input.base.task->outputs_are_labels()) grow(night.bundle, input.mix.classes, spec.seed);
  const ModelDescription& model = night.bundle.description;
  night.freeze = freeze_all_but_last(model, spec.freeze.trainable_layers.count);
  if (spec.freeze.batch_norms) {
    freeze_batch_norms(model, night.freeze);
    if (night.freeze.trained_units > 0 && night.freeze.trainable_layers.empty())
      throw field_error(
          "/freeze/batch_norms",
          "the layers to train are batch norms alone, and freeze.batch_norms freezes them");
  }
  night.asks_plain = asks_plain(input);
  place_split(night, input);
  night.head = head_slice(model, night.freeze);
  night.base_head = head_slice(input.base.description, night.freeze);
  night.backbone_kernels = make_kernels(input);
  night.trainer_kernels = make_kernels(input);
  const ModelWeights weights = night.bundle.weights;
  night.backbone = std::make_unique<Backbone>(
      model, [weights](const ModelDescription& part) { return weights.of(part); }, night.freeze,
      kBackboneBatch, *night.backbone_kernels);
  night.head_bytes = weight_bytes(build_graph(night.head, 1));
  // Both, since planning chooses their kernels.
  night.judging_bytes = std::max(HeadNetwork(night.head, *night.trainer_kernels).peak_bytes(),
                                 HeadNetwork(night.base_head, *night.trainer_kernels).peak_bytes());
  night.judging_bytes += answers_bytes(night, input.mix);
  night.judges_while_training = spec.evaluate_every_epoch;
  night.known_samples = input.known_samples;
  night.driver_bytes = input.training.driver_bytes();
  place_backbone(night, input);
  plan_rows(night, input);
  if (spec.train.epochs == 0) require_rows(night, input);
  night.decoding_room = plan_decoding(night, input);
  const auto samples = static_cast<std::int64_t>(input.mix.train.size());
  const TrainerConfig config = trainer_config(spec, input.mix.train.size());
  night.steps = samples / std::max<std::int64_t>(1, config.batch) * config.epochs;
  if (spec.elastic) night.elastic = elastic_config(*spec.elastic);
  const bool trains = night.freeze.trained_units > 0 && spec.train.epochs > 0;
  trains ? plan_trainer(night, input) : check_budget(night, input);
  plan_version(night, input);
  return night;
}

nlohmann::json to_json(const TrainingMemory& memory) {
  const SwapTimes& times = memory.swap.times;
  return {{"micro_batch", memory.micro_batch},
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
  memory.memory_budget_bytes = json.at("memory_budget_bytes");
  const auto& swap = json.at("swap");
  memory.swap.mode = swap_mode(swap.at("mode").get<std::string>());
  memory.swap.budget_bytes = swap.at("budget_bytes");
  memory.swap.times.order_seconds = swap.at("order_seconds").get<std::vector<double>>();
  memory.swap.times.read_bytes_per_second = swap.at("read_bytes_per_second");
  memory.swap.times.write_bytes_per_second = swap.at("write_bytes_per_second");
  return memory;
}

KernelChoices NightModel::choices() const {
  return joined(backbone_kernels->choices(), trainer_kernels->choices());
}

KernelChoices NightModel::kernel_profile() const {
  return joined(backbone_kernels->profile(), trainer_kernels->profile());
}

std::size_t MemoryForecast::total() const {
  return std::max(libraries + weights + samples + std::max({caching, training, judging}), trials);
}

namespace {

// Of the head: its weights are brought one after the other, trained, and written one after the
// other; before elastic training a copy of all lies beside the training that is timed.
std::size_t training_bytes(const NightModel& night) {
  if (!night.trainer) return 0;
  const std::size_t planned = night.trainer->planned_bytes();
  const std::size_t timing = night.elastic ? planned + night.head_bytes : 0;
  return std::max({planned, night.trainer->network().peak_bytes_each(), timing});
}

}  // namespace

MemoryForecast forecast_memory(const NightModel& night, bool cached) {
  constexpr std::size_t kBytesOfASample = 256;                         // 145 were seen
  constexpr std::size_t kCacheReader = 2 * cache::kMostResidentBytes;  // it counts now and then
  constexpr std::size_t kCacheWriter = 12 << 20;  // LMDB's dirty pages of a batch, and the batch
  const std::size_t elements = night.backbone->feature_elements();
  const auto batch = static_cast<std::size_t>(night.backbone->batch());
  const std::size_t computing =
      night.backbone->peak_bytes() +
      batch * (night.backbone->input_elements() + elements) * sizeof(float) + night.decoding_room;
  const std::size_t mapped = cached ? kCacheReader : 0;
  const std::size_t source = cached ? mapped : computing;
  MemoryForecast forecast;
  forecast.libraries += night.driver_bytes;
  forecast.samples = night.known_samples * kBytesOfASample;
  forecast.decoding = night.decoding_room;
  forecast.weights = night.bundle.weights.changed_bytes();
  forecast.caching = cached ? computing + mapped + kCacheWriter : 0;
  forecast.training = std::max(training_bytes(night), night.choosing_bytes) + source;
  forecast.judging = std::max(night.judging_bytes, night.imprint_bytes) + source;
  if (night.judges_while_training) forecast.judging += training_bytes(night);
  return forecast;
}

}  // namespace moil::night
