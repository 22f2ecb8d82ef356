#include "daemon/night/stages/judge_stage.h"

#include "daemon/night/judge/anchor.h"
#include "daemon/night/judge/answers.h"
#include "daemon/night/judge/fitted_task.h"

namespace moil::night {

using daemon::Stage;

void JudgeStage::look_at_anchor() {
  const std::int64_t version = night_.file.anchor_version;
  if (version == 0 || version == night_.file.base_version || !asks_for_global(night_.spec.guard))
    return;
  const AccuracyRecord record = accuracies();
  if (const auto known = record.of(version)) {
    anchor_ = Anchor{version, known, ""};
    return;
  }
  night_.progress(Stage::kJudge, 0, 1);
  anchor_ = judge_anchor({version, night_.layout.version(night_.spec.model, version), night_.mix,
                          night_.data.origins(), night_.base, model_, reader_});
  if (anchor_->global) record.keep(version, *anchor_->global);
}

void JudgeStage::run() {
  night_.begin(Stage::kJudge, 2);
  KernelSelector& kernels = *model_.trainer_kernels;
  const Task& task = *night_.base.task;
  before_ = judge({model_.base_head, weights_of(night_.base), task}, night_.mix, reader_, kernels);
  night_.progress(Stage::kJudge, 1, 2);
  const WeightsOfPart weights = weights_of(model_.bundle);
  const TaskPtr fitted = fitted_task({model_.head, weights, task}, night_.mix, reader_, kernels);
  after_ = judge({model_.head, weights, fitted ? *fitted : task, /*calibrates=*/true}, night_.mix,
                 reader_, kernels);
  night_.progress(Stage::kJudge, 2, 2);
  const auto incoming = night_.layout.incoming(night_.spec.model, night_.file.version);
  if (fitted) write_task(incoming, *fitted);
  if (after_.calibration) write_calibration(incoming, *after_.calibration);
  const AccuracyRecord record = accuracies();
  if (const auto before = before_.headline_global()) record.keep(night_.file.base_version, *before);
  if (const auto after = after_.headline_global()) record.keep(night_.file.version, *after);
}

AccuracyRecord JudgeStage::accuracies() const {
  return {night_.layout.accuracies(night_.spec.model), held_out_fingerprint(night_.mix)};
}

Measured JudgeStage::measured() const {
  Measured m = counted(night_.mix, *night_.base.task);
  m.global = {before_.headline_global(), after_.headline_global()};
  m.local = {before_.headline_local(), after_.headline_local()};
  m.anchor = anchor_;
  if (m.local.after && night_.base.task->outputs_are_labels())
    m.local_classes = local_classes(night_.mix, before_, after_);
  return m;
}

nlohmann::json JudgeStage::scores() const {
  const Measured m = counted(night_.mix, *night_.base.task);
  const auto of_global = [&](const Judgement& judgement) {
    if (!night_.mix.global_is_answered) return to_json(judgement.global);
    return to_json({{m.global_metric().name, judgement.headline_global()}});
  };
  return {{"metric", m.metric.name},
          {"global_metric", m.global_metric().name},
          {"is_fraction", m.metric.is_fraction},
          {"global", {{"before", of_global(before_)}, {"after", of_global(after_)}}},
          {"local", {{"before", to_json(before_.local)}, {"after", to_json(after_.local)}}}};
}

nlohmann::json JudgeStage::label_scores() const {
  if (!night_.base.task->outputs_are_labels()) return nullptr;
  return night::label_scores(night_.mix, before_, after_);
}

nlohmann::json JudgeStage::confusion() const {
  const Task& task = *night_.base.task;
  return task.outputs_are_labels() ? night::confusion(night_.mix, task, after_) : nullptr;
}

nlohmann::json JudgeStage::changed_answers() const {
  const Task& task = *night_.base.task;
  if (!task.outputs_are_labels()) return nullptr;
  return night::changed_answers(night_.mix, task, before_, after_);
}

nlohmann::json JudgeStage::calibration() const {
  return after_.calibration ? to_json(*after_.calibration) : nlohmann::json(nullptr);
}

nlohmann::json JudgeStage::anchor_details() const {
  const std::int64_t version = night_.file.anchor_version;
  if (version == 0) return nullptr;
  nlohmann::json accuracy;
  if (version == night_.file.base_version) {
    if (const auto before = before_.headline_global()) accuracy = *before;
  } else if (anchor_ && anchor_->global) {
    accuracy = *anchor_->global;
  }
  return {{"version", version}, {"global", std::move(accuracy)}};
}

}  // namespace moil::night
