#include "daemon/night/mix_targets.h"

#include <set>
#include <vector>

namespace moil::night {
namespace {

using Labels = std::set<data::ClassId>;

Labels labels_of(const data::Mix& mix, data::Source source) {
  Labels labels;
  for (const auto* list : {&mix.train, &mix.global_validation, &mix.local_validation})
    for (const data::MixedSample& s : *list)
      if (s.ref.source == source) labels.insert(s.labels.begin(), s.labels.end());
  return labels;
}

std::unique_ptr<Targets> targets_of(const Task& task, const data::Mix& mix, std::size_t outputs,
                                    const Labels& named) {
  return task.targets(mix.classes, outputs, std::vector<std::uint32_t>(named.begin(), named.end()));
}

}  // namespace

MixTargets::MixTargets(const Task& task, const data::Mix& mix, std::size_t outputs) {
  Labels of_global = labels_of(mix, data::Source::kGlobal);
  for (std::size_t fresh = mix.global_classes; fresh < mix.classes.size(); ++fresh)
    of_global.insert(static_cast<data::ClassId>(fresh));
  global_ = targets_of(task, mix, outputs, of_global);
  local_ = targets_of(task, mix, outputs, labels_of(mix, data::Source::kLocal));
}

void MixTargets::write(const data::MixedSample& sample, std::span<float> target) const {
  const bool is_global = sample.ref.source == data::Source::kGlobal;
  (is_global ? *global_ : *local_).write(sample.labels, target);
}

}  // namespace moil::night
