#include "daemon/night/judge/measurable.h"

#include <cmath>
#include <span>

#include "daemon/night/data/mix_targets.h"
#include "daemon/night/judge/judge.h"
#include "daemon/night/judge/local_scorer.h"

namespace moil::night {
namespace {

using Samples = std::vector<data::MixedSample>;

// Answers that are what they are held against; what is not known is answered by 0.
class RightAnswers {
 public:
  RightAnswers(const MixTargets& targets, std::size_t outputs)
      : targets_(targets), target_(outputs), output_(outputs) {}

  template <class Add>
  void give(const data::MixedSample& sample, const Add& add) {
    targets_.write(sample, target_);
    for (std::size_t o = 0; o < target_.size(); ++o)
      output_[o] = std::isnan(target_[o]) ? 0 : target_[o];
    add(std::span<const float>(output_), std::span<const float>(target_));
  }

 private:
  const MixTargets& targets_;
  std::vector<float> target_, output_;
};

bool has_headline(const Scorer& scorer) { return scorer.scores().front().value.has_value(); }

// Few samples tell, as a rule, and what they tell more of them do not unsay.
template <class Give>
bool tells(const Samples& samples, const Scorer& scorer, const Give& give) {
  std::size_t next = 2;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    give(samples[i]);
    if (i + 1 < next && i + 1 < samples.size()) continue;
    if (has_headline(scorer)) return true;
    next *= 2;
  }
  return false;
}

}  // namespace

Measured measurable(const data::Mix& mix, const StoredModel& base) {
  const Task& task = *base.task;
  const std::size_t outputs = task.outputs_are_labels() ? mix.classes.size() : base.labels.size();
  constexpr OutputForm kAsTargets{.probabilities = true};
  const MixTargets targets(task, mix, outputs);
  RightAnswers right(targets, outputs);
  Measured m = counted(mix, task);
  if (task.teaches_itself()) {
    m.global_tells = !mix.global_validation.empty();
    m.local_tells = !mix.local_validation.empty();
    return m;
  }
  const auto global = task.scorer(kAsTargets);
  m.global_tells = tells(mix.global_validation, *global, [&](const data::MixedSample& sample) {
    right.give(sample, [&](auto output, auto target) { global->add(output, target); });
  });
  LocalScorer local(task, kAsTargets, mix.local_validation);
  m.local_tells =
      tells(mix.local_validation, local.scorer(),
            [&](const data::MixedSample& sample) {
              right.give(sample,
                         [&](auto output, auto target) { local.add_local(output, target); });
            }) ||
      tells(mix.global_validation, local.scorer(), [&](const data::MixedSample& sample) {
        right.give(sample, [&](auto output, auto target) { local.add_global(output, target); });
      });
  return m;
}

}  // namespace moil::night
