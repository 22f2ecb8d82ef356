#include "daemon/night/data/mix_targets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace moil::night {
namespace {

using Labels = std::set<data::ClassId>;

Labels denied_of(const data::Mix& mix) {
  Labels denied;
  for (const auto* list : {&mix.train, &mix.local_validation})
    for (const data::MixedSample& s : *list) denied.insert(s.denied.begin(), s.denied.end());
  return denied;
}

std::unique_ptr<Targets> targets_of(const Task& task, const data::Mix& mix, std::size_t outputs,
                                    const Labels& named) {
  return task.targets(mix.classes, outputs, std::vector<std::uint32_t>(named.begin(), named.end()));
}

// Of silence no model knows better: what may be it is equally likely.
void spread_evenly(std::span<float> target) {
  const auto is_open = [](float x) { return std::isnan(x); };
  const auto open = std::ranges::count_if(target, is_open);
  std::ranges::replace_if(target, is_open,
                          1 / static_cast<float>(std::max<std::ptrdiff_t>(1, open)));
}

// A task that compares samples says of one without labels which it lacks.
std::vector<float> silence_of(const Task& task, std::size_t outputs, const Labels& spoken_of,
                              const Targets& of_local) {
  std::vector<float> target(outputs, std::numeric_limits<float>::quiet_NaN());
  if (!task.outputs_are_labels()) return target;
  if (task.compares_samples()) {
    of_local.write({}, {}, target);
    return target;
  }
  of_local.write({}, std::vector<std::uint32_t>(spoken_of.begin(), spoken_of.end()), target);
  spread_evenly(target);
  return target;
}

}  // namespace

MixTargets::MixTargets(const Task& task, const data::Mix& mix, std::size_t outputs)
    : are_shown_(task.teaches_itself()) {
  Labels of_global = labels_of(mix, data::Source::kGlobal);
  for (std::size_t fresh = mix.global_classes; fresh < mix.classes.size(); ++fresh)
    of_global.insert(static_cast<data::ClassId>(fresh));
  global_ = targets_of(task, mix, outputs, of_global);
  const Labels of_local = labels_of(mix, data::Source::kLocal);
  local_ = targets_of(task, mix, outputs, of_local);
  Labels spoken_of = denied_of(mix);
  spoken_of.insert(of_local.begin(), of_local.end());
  silence_ = silence_of(task, outputs, spoken_of, *local_);
}

void MixTargets::write_silence(std::span<float> target) const {
  std::copy_n(silence_.begin(), std::min(silence_.size(), target.size()), target.begin());
}

void MixTargets::write(const data::MixedSample& sample, std::span<float> target) const {
  const bool is_global = sample.is_global();
  (is_global ? *global_ : *local_).write(sample.labels, sample.denied, target);
}

}  // namespace moil::night
