#include "daemon/spec/learn_spec.h"

#include <algorithm>

namespace moil::daemon {
namespace {

// If nothing says otherwise, the classifier alone is behind the cached feature maps. A split
// before the first layer caches nothing.
int layers_behind(const LearnPattern& pattern) {
  const auto count =
      pattern.trained_units ? pattern.trained_units : pattern.spec.freeze.trainable_layers.count;
  const bool whole = !count || *count == 0 || (pattern.units && *count >= *pattern.units);
  return whole ? 1 : *count;
}

}  // namespace

std::optional<JobSpec> learn_spec(const LearnRequest& request,
                                  const std::optional<LearnPattern>& pattern) {
  JobSpec spec;
  spec.global.alpha = 1;
  spec.global.limit = kLearnPackSamples;
  spec.freeze.trainable_layers.count = 1;
  if (pattern) {
    const JobSpec& like = pattern->spec;
    spec.global.pack = like.global.pack;
    if (like.global.alpha > 0) spec.global.alpha = like.global.alpha;
    if (like.global.limit) spec.global.limit = std::min(*like.global.limit, kLearnPackSamples);
    spec.freeze.trainable_layers.count = layers_behind(*pattern);
    spec.cache = like.cache;
    spec.seed = like.seed;
    spec.threads = like.threads;
    spec.exact_arithmetic = like.exact_arithmetic;
    spec.guard.max_global_drop = like.guard.max_global_drop;
  }
  if (!request.pack.empty()) spec.global.pack = request.pack;
  if (spec.global.pack.empty()) return std::nullopt;
  spec.name = "learn";
  spec.settings = Settings::kDefaults;
  spec.model = request.model;
  spec.local.labels = request.labels;
  spec.train.epochs = 0;
  return spec;
}

}  // namespace moil::daemon
