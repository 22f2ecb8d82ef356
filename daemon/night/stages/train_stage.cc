#include "daemon/night/stages/train_stage.h"

#include "base/process_memory.h"
#include "daemon/night/stages/night_deadline.h"
#include "datasets/sampling/per_class.h"
#include "engine/train/finite.h"

namespace moil::night {

using daemon::Stage;

void TrainStage::run() {
  NightModel& model = plan_.model();
  if (!model.trainer) return;
  training_ = make_training();
  const auto samples = static_cast<std::int64_t>(night_.mix.train.size());
  night_.begin(Stage::kTrain,
               steps_of_epoch(samples, model.trainer->config()) * night_.spec.train.epochs);
  night_.probe.begin_part();
  const auto saved =
      restored([&] { return training_->begin(model.bundle.weights, night_.files.checkpoint()); });
  if (saved) curve_ = saved->at("curve");
  for (const Node& node : model.trainer->network().graph().nodes)
    for (const WeightSpec& spec : node.weights) trained_.insert(weight_name(node, spec));
  const MixTargets targets(*model.bundle.task, night_.mix, model.bundle.labels.size());
  FeatureSource source(night_.mix.train, targets, reader_, teacher_);
  last_save_ = std::chrono::steady_clock::now();
  if (!training_->run(source, callbacks(source))) throw Stopped{};
  peak_ = night_.probe.part_peak_bytes();
  save();
  swapped_ = model.trainer->network().swap_statistics();
  training_->end();
}

Trainer::Callbacks TrainStage::callbacks(const FeatureSource& source) {
  Trainer::Callbacks callbacks;
  callbacks.order = [&](std::int64_t epoch) {
    return source.order(data::epoch_order(night_.mix.train.size(), night_.spec.seed,
                                          static_cast<std::uint64_t>(epoch)),
                        epoch);
  };
  callbacks.on_step = [this](std::int64_t step, std::int64_t all, double loss) {
    return after_step(step, all, loss);
  };
  callbacks.on_epoch = [this](const EpochSummary& summary) { after_epoch(summary); };
  callbacks.may_go_on = [this] { return !night_.is_stopped(); };
  return callbacks;
}

std::unique_ptr<HeadTraining> TrainStage::make_training() {
  NightModel& model = plan_.model();
  if (!model.elastic) return plain_training(*model.trainer, night_.begun);
  settle_rho(night_, model, plan_.profile().profile);
  if (night_.spec.cache.enabled)
    model.elastic->maps = {night_.layout.job(night_.file.id), room_for_maps()};
  ElasticPlan plan{model.head,
                   model.freeze.trainable_layers,
                   model.trainer->config(),
                   *model.elastic,
                   plan_.profile(),
                   *model.probe,
                   model.trainer->planned_bytes()};
  return elastic_training(std::move(plan), *model.trainer_kernels);
}

// Chosen when training begins and recorded: a resumed night selects the same, whatever is free.
std::uint64_t TrainStage::room_for_maps() {
  auto& bytes = night_.choices.map_bytes;
  if (!bytes) {
    bytes = moil::room_for_maps(night_.layout.job(night_.file.id),
                                static_cast<std::uint64_t>(night_.file.cache_quota_bytes));
    night_.save_choices();
  }
  return *bytes;
}

void TrainStage::save() {
  night_.require_remembered();
  training_->save_checkpoint(night_.files.checkpoint(), {{"curve", curve_}});
  night_.clock.add();
  last_save_ = std::chrono::steady_clock::now();
}

bool TrainStage::after_step(std::int64_t step, std::int64_t total, double loss) {
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> interval(night_.spec.train.checkpoint_seconds);
  if (night_.is_stopped() || now - last_save_ >= interval) save();
  if (step == total || now - last_progress_ >= std::chrono::milliseconds(200)) {
    last_progress_ = now;
    report_step(step, total, loss);
  }
  return night_.may_go_on(Stage::kTrain, step, total);
}

void TrainStage::report_step(std::int64_t step, std::int64_t total, double loss) {
  const int epochs = night_.spec.train.epochs;
  daemon::Progress p;
  p.stage = Stage::kTrain;
  p.done = step;
  p.total = total;
  p.epoch = static_cast<int>((step - 1) / (total / epochs)) + 1;
  p.epochs = epochs;
  p.loss = loss;
  const double per_step = training_->seconds() / static_cast<double>(step);
  if (step >= 10) p.seconds_left = per_step * static_cast<double>(total - step);
  night_.events.progress(p);
}

void TrainStage::after_epoch(const EpochSummary& summary) {
  daemon::CurvePoint point;
  point.epoch = static_cast<int>(summary.epoch);
  point.seconds = summary.seconds;
  point.loss = summary.loss;
  if (night_.spec.evaluate_every_epoch && !night_.is_trial()) {
    const NightModel& model = plan_.model();
    const Judgement now = judge({model.head, weights(), *model.bundle.task}, night_.mix, reader_,
                                *model.trainer_kernels);
    point.is_fraction = model.bundle.task->headline().is_fraction;
    point.global = now.headline_global();
    point.local = now.headline_local();
  }
  night_.events.curve(point);
  Json entry = {{"epoch", point.epoch}, {"seconds", point.seconds}, {"loss", point.loss}};
  entry["global"] = daemon::or_null(point.global);
  entry["local"] = daemon::or_null(point.local);
  curve_.push_back(std::move(entry));
}

WeightsOfPart TrainStage::weights() const {
  return [this](const ModelDescription& part) {
    return weights_by_name(part, [this](const std::string& name) { return weight(name); });
  };
}

// As it is now, trained or not. The trainer looks at what learns; statistics may have overflowed
// meanwhile.
NamedTensor TrainStage::weight(const std::string& name) const {
  if (!trained_.contains(name)) return plan_.model().bundle.weights.read(name);
  NamedTensor tensor = training_->weight(name);
  if (!all_finite(tensor.data.data(), static_cast<std::int64_t>(tensor.data.size())))
    throw_diverged(name, training_->state().step);
  return tensor;
}

void TrainStage::write_version() {
  NightModel& model = plan_.model();
  const auto incoming = night_.layout.incoming(night_.spec.model, night_.file.version);
  try {
    write_model_folder(incoming, model.bundle,
                       [&](const std::string& name) { return weight(name); });
  } catch (...) {  // half a version must not keep the room that it lacked
    std::error_code ignored;
    std::filesystem::remove_all(incoming, ignored);
    throw;
  }
  if (training_) training_->release();
  trained_.clear();
  model.bundle.weights = open_model_folder(incoming).weights;
  release_idle_memory();
}

}  // namespace moil::night
