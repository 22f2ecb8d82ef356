#include "daemon/night/stages/trial_scores.h"

#include <algorithm>
#include <memory>

#include "daemon/night/data/mix_targets.h"
#include "daemon/night/judge/judge.h"
#include "daemon/night/judge/local_scorer.h"
#include "daemon/night/maps/head_network.h"

namespace moil::night {
namespace {

// Held-out samples are dealt in turns to parts of so many at least, each scored by the task's
// headline: how much the parts differ is how little a figure says.
constexpr std::size_t kMostParts = 16, kFewestInPart = 8;

std::size_t parts_of(const data::Mix& mix) {
  std::size_t fewest = mix.local_validation.size();
  if (!mix.global_validation.empty()) fewest = std::min(fewest, mix.global_validation.size());
  return std::clamp<std::size_t>(fewest / kFewestInPart, 2, kMostParts);
}

double quality_of_one(const Task& task, OutputForm form, std::span<const float> output,
                      std::span<const float> target) {
  const auto scorer = task.scorer(form);
  scorer->add(output, target);
  return scorer->quality().value_or(0);
}

// Larger is better; a part that tells nothing counts as nothing known.
template <class Scorers, class Get>
void add_headlines(const Task& task, const Scorers& parts, const Get& scorer_of, Quality& quality) {
  if (quality.fine.empty()) return;
  const Metric metric = task.headline();
  for (const auto& part : parts) {
    const double value = scorer_of(part).scores().front().value.value_or(0);
    quality.headline.push_back(metric.higher_is_better ? value : -value);
  }
}

}  // namespace

TrialScores score_trial(const NightContext& trial, const NightModel& model, FeatureReader& reader,
                        const ModelDescription& head, const WeightsOfPart& weights) {
  const Task& task = *trial.base.task;
  HeadNetwork network(head, *model.trainer_kernels);
  network.allocate(weights);
  const OutputForm form = network.form();
  const auto outputs = network.network().output_info(0).dims.elements_per_sample();
  const MixTargets targets(task, trial.mix, static_cast<std::size_t>(outputs));
  const std::size_t parts = parts_of(trial.mix);
  std::vector<std::unique_ptr<Scorer>> of_global;
  std::vector<LocalScorer> of_local;
  for (std::size_t i = 0; i < parts; ++i) {
    of_global.push_back(task.scorer(form));
    of_local.emplace_back(task, form, trial.mix.local_validation);
  }
  TrialScores found;
  const auto part_of = [&](std::int64_t sample) {
    return static_cast<std::size_t>(sample) % parts;
  };
  const Asked asked{network.network(), task, form};
  for_each_sample(trial.mix.global_validation, targets, reader, asked,
                  [&](std::int64_t sample, auto output, auto target) {
                    of_global[part_of(sample)]->add(output, target);
                    of_local[part_of(sample)].add_global(output, target);
                    found.global.fine.push_back(quality_of_one(task, form, output, target));
                  });
  for_each_sample(trial.mix.local_validation, targets, reader, asked,
                  [&](std::int64_t sample, auto output, auto target) {
                    of_local[part_of(sample)].add_local(output, target);
                    found.local.fine.push_back(quality_of_one(task, form, output, target));
                  });
  add_headlines(
      task, of_global, [](const auto& part) -> const Scorer& { return *part; }, found.global);
  add_headlines(
      task, of_local, [](const auto& part) -> const Scorer& { return part.scorer(); }, found.local);
  return found;
}

}  // namespace moil::night
