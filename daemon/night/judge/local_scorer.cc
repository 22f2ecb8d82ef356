#include "daemon/night/judge/local_scorer.h"

#include <cmath>
#include <limits>

namespace moil::night {

LocalScorer::LocalScorer(const Task& task, OutputForm form,
                         const std::vector<data::MixedSample>& local)
    : compares_(task.compares_samples()), scorer_(task.scorer(form)) {
  for (const data::MixedSample& s : local)
    for (const auto* labels : {&s.labels, &s.denied})
      labels_.insert(labels->begin(), labels->end());
}

void LocalScorer::add_local(std::span<const float> output, std::span<const float> target) {
  if (compares_)
    add(output, target, std::numeric_limits<float>::quiet_NaN());
  else
    scorer_->add(output, target);
}

void LocalScorer::add_global(std::span<const float> output, std::span<const float> target) {
  if (compares_ && !labels_.empty()) add(output, target, 0);
}

void LocalScorer::add(std::span<const float> output, std::span<const float> target, float unknown) {
  target_.assign(target.size(), std::numeric_limits<float>::quiet_NaN());
  for (const data::ClassId label : labels_)
    if (label < target.size()) target_[label] = std::isnan(target[label]) ? unknown : target[label];
  scorer_->add(output, target_);
}

}  // namespace moil::night
