#include "daemon/night/stages/night_result.h"

#include <map>

#include "base/version.h"
#include "daemon/models/version_identity.h"
#include "daemon/night/data/mix_record.h"
#include "daemon/night/data/silent_labels.h"

namespace moil::night {
namespace {

constexpr std::size_t kMostLeftOutTold = 100;  // by name

Json sample_details(const NightContext& night, const LeftOut& left_out) {
  const std::size_t global = count_global(night.mix);
  return {{"global", global},
          {"local", night.mix.train.size() - global},
          {"global_validation", night.mix.global_validation.size()},
          {"local_validation", night.mix.local_validation.size()},
          {"left_out", left_out.size()}};
}

Json swap_details(const NightModel& model, const SwapStatistics& swapped) {
  if (model.training_memory.swap.mode == SwapMode::kOff) return nullptr;
  return {{"mode", to_string(model.training_memory.swap.mode)},
          {"read_bytes", swapped.read_bytes},
          {"written_bytes", swapped.written_bytes},
          {"waited_seconds", swapped.waited_seconds}};
}

Json memory_details(const NightContext& night, const PlanStage& plan, const TrainStage& train) {
  Json details = {{"predicted_bytes", plan.forecast().total()},
                  {"measured_bytes", night.probe.peak_bytes()},
                  {"baseline_bytes", night.probe.baseline_bytes()}};
  if (const HeadTraining* training = train.training()) {
    const NightModel& model = plan.model();
    details["training_plan_bytes"] = training->planned_bytes();
    details["training_peak_bytes"] = train.peak_bytes();
    if (!model.elastic)
      details["training_lower_bound_bytes"] = model.trainer->network().plan().lower_bound_bytes;
    details["micro_batch"] = micro_batch_of(model.trainer->config());
    details["made_again"] = model.trainer->config().again.size();
    details["saved"] = model.trainer->config().narrow_saved ? "bf16" : "fp32";
    details["swap"] = swap_details(model, train.swapped());
  }
  return details;
}

Json cache_details(const NightContext& night, const NightModel& model, const CacheStage& cache) {
  const std::size_t bytes = night.spec.cache.dtype == daemon::StoredFloats::kBf16 ? 2 : 4;
  return {{"computed", cache.filled().computed},
          {"reused", cache.filled().reused},
          {"uncached", cache.filled().uncached},
          {"feature_bytes", model.backbone->feature_elements() * bytes},
          {"maps", model.maps ? to_json(*model.maps) : Json()},
          {"model_id", cache::to_hex(cache.model_id())}};
}

Json deadline_details(const NightContext& night) {
  const auto& head = night.choices.head;
  if (!head) return nullptr;
  return {{"seconds", *night.spec.deadline_seconds},
          {"trained_units", head->trained_units},
          {"rho", head->rho}};
}

// Scenes of several local samples, and what was not judged by because its scene is trained on.
Json scene_details(const data::Mix& mix, const SceneStage& stage) {
  std::map<std::int64_t, std::size_t> scenes;
  for (const auto* list : {&mix.train, &mix.local_validation})
    for (const data::MixedSample& s : *list)
      if (!s.is_global() && s.scene != data::kOwnScene) ++scenes[s.scene];
  std::erase_if(scenes, [](const auto& scene) { return scene.second < 2; });
  std::size_t samples = 0;
  for (const auto& [scene, count] : scenes) samples += count;
  return {{"scenes", scenes.size()},
          {"samples", samples},
          {"passed_over", mix.also_trained},
          {"looked_at", stage.looked_at()},
          {"not_known", stage.not_known().size()},
          {"remark", passed_over_remark(mix.also_trained)}};
}

// What is told of every night.
Json night_details(const NightContext& night, const MixStage& mix) {
  const LeftOut& left_out = mix.left_out();
  const Json method =
      night.spec.elastic ? Json("elastic") : daemon::to_json(night.spec).at("train").at("method");
  return {{"samples", sample_details(night, left_out)},
          {"left_out", to_json(left_out, kMostLeftOutTold)},
          {"near_duplicates", scene_details(night.mix, mix.scenes())},
          {"other_media", night.data.other_media()},
          {"denied_in_vain", night.mix.denied_in_vain},
          {"silent_labels", to_json(silent_labels(night.mix))},
          {"stages", night.clock.by_stage()},
          {"method", method},
          {"task", night.base.task->name()},
          {"build", kVersion},
          {"data", data_identity(night.mix)}};
}

Json training_details(const TrainStage& train) {
  const HeadTraining* training = train.training();
  return {{"train_seconds", training ? training->seconds() : 0.0},
          {"train_cpu_seconds", training ? training->state().cpu_seconds : 0.0},
          {"elastic", training ? training->choices() : Json(nullptr)},
          {"curve", train.curve()}};
}

Json details_of(const NightContext& night, const NightStages& stages) {
  const NightModel& model = stages.run.plan().model();
  const MeasuringTime& measuring = night.measuring;
  Json details = night_details(night, stages.mix);
  details.update(training_details(stages.run.trained()));
  details["freeze"] = {{"trained_units", model.freeze.trained_units},
                       {"units", model.freeze.total_units},
                       {"split", model.freeze.split}};
  details["memory"] = memory_details(night, stages.run.plan(), stages.run.trained());
  details["processors"] = stages.run.plan().processors();
  details["kernels"] = {{"measured", measuring.measured()},
                        {"untried", measuring.untried()},
                        {"seconds", measuring.seconds()}};
  details["auto"] = stages.choose.details();
  details["deadline"] = deadline_details(night);
  details["scores"] = stages.judge.scores();
  details["labels"] = stages.judge.label_scores();
  details["confusion"] = stages.judge.confusion();
  details["changed"] = stages.judge.changed_answers();
  details["weights"] = stages.weights;
  details["anchor"] = stages.judge.anchor_details();
  details["distilled"] = stages.run.distilled().is_used();
  details["imprinted"] = stages.run.imprinted().details();
  details["calibration"] = stages.judge.calibration();
  details["listening"] = stages.listen.details();
  if (stages.run.cache().cache() != nullptr)
    details["cache"] = cache_details(night, model, stages.run.cache());
  return details;
}

}  // namespace

daemon::JobResult night_result(NightContext& night, const NightStages& stages,
                               const std::optional<std::string>& refused) {
  night.clock.add();
  const Measured measured = stages.judge.measured();
  daemon::JobResult result;
  result.promoted = !refused;
  result.reason = refused ? *refused : verdict(night.spec.guard, measured);
  result.global_before = measured.global.before;
  result.global_after = measured.global.after;
  result.local_before = measured.local.before;
  result.local_after = measured.local.after;
  result.metric = measured.metric.name;
  result.global_metric = measured.global_metric().name;
  result.is_fraction = measured.metric.is_fraction;
  result.epochs = stages.run.trained().training() ? night.spec.train.epochs : 0;
  result.seconds = night.clock.total();
  result.details = details_of(night, stages);
  return result;
}

daemon::JobResult refused_result(NightContext& night, const MixStage& mix,
                                 const std::string& refused) {
  night.clock.add();
  daemon::JobResult result;
  result.reason = refused;
  result.seconds = night.clock.total();
  result.details = night_details(night, mix);
  return result;
}

}  // namespace moil::night
