#include "daemon/night/settings/candidate.h"

#include <algorithm>
#include <cmath>

namespace moil::night {
namespace {

using daemon::JobSpec;
using daemon::OptimizerType;

constexpr int kFewestEpochs = 4, kMostEpochs = 40;
constexpr int kUsualBatch = 32;

int epochs_of(const JobSpec& spec, const Candidate& candidate, std::size_t train, double part) {
  const double batch = std::min<double>(spec.train.batch, static_cast<double>(train));
  const double epochs = std::round(part * candidate.steps * batch / static_cast<double>(train));
  // Each view is to be seen twice.
  const int fewest = part < 1 ? 1 : std::max(kFewestEpochs, 2 * candidate.views);
  return static_cast<int>(std::clamp<double>(epochs, fewest, kMostEpochs));
}

}  // namespace

nlohmann::json to_json(const Candidate& candidate) {
  return {{"layers", candidate.layers ? nlohmann::json(*candidate.layers) : nlohmann::json("all")},
          {"learning_rate", candidate.learning_rate},
          {"views", candidate.views},
          {"steps", candidate.steps}};
}

Candidate candidate_from_json(const nlohmann::json& json) {
  Candidate candidate;
  const nlohmann::json& layers = json.at("layers");
  candidate.layers = layers == "all" ? std::nullopt : std::optional(layers.get<int>());
  candidate.learning_rate = json.at("learning_rate");
  candidate.views = json.at("views");
  candidate.steps = json.value("steps", candidate.layers == 1 ? kClassifierSteps : kDeepSteps);
  return candidate;
}

JobSpec with_usual_optimizer(JobSpec spec, const Task& task) {
  daemon::OptimizerSpec& optimizer = spec.train.optimizer;
  const bool is_sgd = optimizer.momentum || optimizer.nesterov;
  if (spec.open.contains("/train/optimizer/type") && task.teaches_itself() && !is_sgd)
    optimizer.type = OptimizerType::kAdam;
  return spec;
}

double usual_rate(const daemon::OptimizerSpec& optimizer, bool classifier_alone, const Task& task) {
  const bool adaptive =
      optimizer.type == OptimizerType::kAdam || optimizer.type == OptimizerType::kAdamw;
  if (adaptive) return classifier_alone || task.teaches_itself() ? 1e-3 : 3e-4;
  return classifier_alone ? 0.03 : 0.02;
}

bool trains(const JobSpec& spec) {
  return spec.train.epochs > 0 && spec.freeze.trainable_layers.count != 0;
}

JobSpec filled(JobSpec spec, const Candidate& candidate, std::size_t train, double part) {
  const auto open = std::move(spec.open);
  spec.open.clear();
  const auto fill = [&](const char* field, auto& member, auto value) {
    if (open.contains(field)) member = value;
  };
  daemon::TrainSpec& t = spec.train;
  fill("/freeze/trainable_layers", spec.freeze.trainable_layers.count, candidate.layers);
  fill("/freeze/batch_norms", spec.freeze.batch_norms, true);
  fill("/augment/views", spec.augment.views, candidate.views);
  fill("/train/batch", t.batch, kUsualBatch);
  fill("/train/optimizer/learning_rate", t.optimizer.learning_rate, candidate.learning_rate);
  fill("/train/optimizer/backbone_factor", t.optimizer.backbone_factor, 0.5);
  fill("/train/schedule/type", t.schedule.type, daemon::ScheduleType::kCosine);
  fill("/train/schedule/warmup_epochs", t.schedule.warmup_epochs, 1.0);
  fill("/train/clip_norm", t.clip_norm, 2.0);
  const int epochs = epochs_of(spec, candidate, train, part);
  if (open.contains("/train/epochs"))
    t.epochs = epochs;
  else if (part < 1)  // a user's passes are shortened as well: a trial is a trial
    t.epochs = std::min(t.epochs, epochs);
  // A warm-up of all that there is would be no training.
  if (open.contains("/train/schedule/warmup_epochs"))
    t.schedule.warmup_epochs = std::min(1.0, 0.1 * t.epochs);
  return spec;
}

nlohmann::json settled_fields(const JobSpec& job, const JobSpec& settled) {
  const nlohmann::json whole = daemon::to_json(settled);
  nlohmann::json patch = nlohmann::json::object();
  for (const std::string& field : job.open) {
    const nlohmann::json::json_pointer pointer(field);
    if (whole.contains(pointer)) patch[pointer] = whole.at(pointer);
  }
  return patch;
}

}  // namespace moil::night
