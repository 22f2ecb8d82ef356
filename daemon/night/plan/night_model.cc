#include "daemon/night/plan/night_model.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "daemon/night/data/field_error.h"
#include "daemon/night/data/mix_targets.h"
#include "daemon/night/maps/head_network.h"
#include "daemon/night/maps/head_slice.h"
#include "daemon/night/plan/memory_forecast.h"
#include "daemon/night/plan/trainer_settings.h"
#include "daemon/night/plan/training_fit.h"
#include "engine/model/surgery.h"
#include "engine/train/metrics.h"

namespace moil::night {
namespace {

std::unique_ptr<KernelSelector> make_kernels(const NightPlanInput& input) {
  KernelSelector::Options options;
  options.exact_arithmetic = input.spec.exact_arithmetic;
  options.measure = !input.dry;
  options.time = input.measuring;
  return std::make_unique<KernelSelector>(options, input.recorded, input.profile);
}

KernelChoices joined(KernelChoices all, const KernelChoices& more) {
  all.insert(more.begin(), more.end());
  return all;
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

// Of how many labels one of the samples tells.
std::size_t known_labels(const MixTargets& targets, const std::vector<data::MixedSample>& samples,
                         std::size_t labels) {
  if (samples.empty()) return 0;
  std::vector<float> target(labels);
  targets.write(samples[0], target);
  return static_cast<std::size_t>(
      std::ranges::count_if(target, [](float x) { return !std::isnan(x); }));
}

// What is kept of samples while they are judged.
std::size_t answers_bytes(const NightModel& night, const data::Mix& mix) {
  constexpr std::size_t kOfASample = 2 * 256;  // its calibration, what is said of it, its parts
  constexpr std::size_t kOfALabel = 1024;      // counts by threshold or by side
  const std::size_t labels = night.bundle.labels.size();
  const std::size_t held_out = mix.global_validation.size() + mix.local_validation.size();
  const std::size_t kept = held_out * kOfASample + labels * kOfALabel;
  if (!night.bundle.task->compares_samples()) return kept;
  const MixTargets targets(*night.bundle.task, mix, labels);
  std::set<data::ClassId> local;
  for (const data::MixedSample& s : mix.local_validation)
    for (const auto* ids : {&s.labels, &s.denied}) local.insert(ids->begin(), ids->end());
  // Global samples are compared with local ones, too; vectors grow to twice their size.
  const std::size_t known = known_labels(targets, mix.global_validation, labels);
  return kept +
         2 * sizeof(LabelScore) * (known * mix.global_validation.size() + local.size() * held_out);
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

// If there is no memory for it, a night begins with random rows.
void plan_rows(NightModel& night, const NightPlanInput& input) {
  night.imprint = plan_imprint(input.base, night.base_head, input.mix, input.spec, input.rows_anew);
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

void add_labels(std::vector<std::string>& labels, const ImprintPlan& plan, const data::Mix& mix) {
  for (const data::ClassId row : plan.rows) {
    const std::string& label = mix.classes.at(row);
    if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
  }
}

// What becomes of what is known of the model before the night.
void plan_version(NightModel& night, const NightPlanInput& input) {
  night.bundle.calibration.reset();
  night.bundle.listening.clear();
  if (night.trainer) night.bundle.imprinted.clear();
  const bool keeps_features = !night.trainer || night.freeze.trained_units == 1;
  if (!keeps_features) night.bundle.imprintable.clear();
  if (!night.imprint) return;
  if (!night.trainer) add_labels(night.bundle.imprinted, *night.imprint, input.mix);
  if (keeps_features) add_labels(night.bundle.imprintable, *night.imprint, input.mix);
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

// If rows may be imprinted, or the task chooses something by training samples.
bool asks_plain(const NightPlanInput& input) {
  const Task& task = *input.base.task;
  if (task.fitting({}) != nullptr) return true;
  if (!task.outputs_are_labels()) return false;
  return input.spec.train.epochs == 0 || input.rows_anew ||
         input.mix.classes.size() > input.base.labels.size();
}

MapNeeds map_needs(const NightPlanInput& input) {
  const daemon::JobSpec& spec = input.spec;
  const bool halves = spec.cache.dtype == daemon::StoredFloats::kBf16;
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

// On the CPU, too, if the budget has no room for what another processor needs beside its own.
void place_backbone(NightModel& night, const NightPlanInput& input) {
  if (input.processors == nullptr || night.backbone->is_identity()) return;
  const Placement placement = input.processors->for_maps(night.backbone->inference_model(),
                                                         kBackboneBatch, *night.backbone_kernels);
  night.map_processors = placement.record;
  if (placement.assignment.empty()) return;
  night.backbone->place(placement.processors, placement.assignment);
  const std::size_t before = night.driver_bytes;
  night.driver_bytes = std::max(before, placement.driver_bytes());
  const auto& budget = input.spec.memory.budget_bytes;
  if (!budget ||
      forecast_memory(night, input.spec.cache.enabled).total() <= static_cast<std::size_t>(*budget))
    return;
  night.backbone->place({}, {});
  night.driver_bytes = before;
  night.map_processors.update(on_cpu("memory.budget_bytes has no room for another processor's"));
}

// What is new in a sample is learned in the tables alone, which learn whatever else does.
void train_what_is_new(NightModel& night, const daemon::JobSpec& spec) {
  train_tables(night.bundle.description, night.freeze);
  if (spec.train.method != daemon::TrainingMethod::kFull)
    throw field_error("/train/method",
                      "the model learns new ids in the rows of its tables, which only \"full\" "
                      "trains");
}

}  // namespace

NightModel plan_night(const NightPlanInput& input) {
  const daemon::JobSpec& spec = input.spec;
  NightModel night;
  night.bundle = input.base;
  if (input.base.task->outputs_are_labels()) grow(night.bundle, input.mix.classes, spec.seed);
  const ModelDescription& model = night.bundle.description;
  night.freeze = freeze_all_but_last(model, spec.freeze.trainable_layers.count);
  if (input.base.kind->can_learn_symbols()) train_what_is_new(night, spec);
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

KernelChoices NightModel::choices() const {
  return joined(backbone_kernels->choices(), trainer_kernels->choices());
}

KernelChoices NightModel::kernel_profile() const {
  return joined(backbone_kernels->profile(), trainer_kernels->profile());
}

}  // namespace moil::night
