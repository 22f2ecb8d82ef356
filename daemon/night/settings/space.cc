#include "daemon/night/settings/space.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "engine/model/cut.h"
#include "engine/model/freeze.h"
#include "engine/model/realizers/realizers.h"
#include "engine/model/work.h"

namespace moil::night {
namespace {

constexpr int kViews = 2;

constexpr int kBetween = 3, kLeastDeep = 12, kMostDeep = 16;

using Depths = std::vector<Depth>;

std::int64_t map_elements(const ModelDescription& model, int layers) {
  std::int64_t elements = 1;
  for (const std::int64_t dim : freeze_all_but_last(model, layers).split_dims) elements *= dim;
  return elements;
}

// A pack of feature maps was made for one split: what trains behind it is all there is.
Depths depths_behind_maps(const ModelDescription& model, const NightData& data) {
  for (auto n = static_cast<int>(weight_units(model).size()); n > 0; --n)
    if (data.can_split_at(freeze_all_but_last(model, n).split)) return {n};
  return {1};
}

Depths open_depths(const StoredModel& base, const NightData& data) {
  const bool has_maps = data.origins().global_features != nullptr;
  return has_maps ? depths_behind_maps(base.description, data) : depths_of(base.description);
}

// A trial's, in multiply-adds: frozen layers once a view, or once a part that is shown, the others
// forward and back in each epoch.
class TrialWork {
 public:
  TrialWork(const daemon::JobSpec& job, const StoredModel& base, const std::vector<Depth>& depths,
            std::size_t samples)
      : job_(job), has_parts_(base.kind->has_parts()), samples_(samples) {
    const ModelDescription& model = base.description;
    const Graph graph = build_graph(realize_pruning(model), 1);
    const std::vector<double> work = multiply_adds(graph);
    const double all = std::accumulate(work.begin(), work.end(), 0.0);
    for (const Depth& depth : depths) {
      const std::string split = freeze_all_but_last(model, depth).split;
      double& frozen = frozen_[depth];
      for (const Cut& cut : cuts_of(graph))
        if (cut.value == split)
          frozen = std::accumulate(work.begin(), work.begin() + cut.last_node + 1, 0.0);
      trained_[depth] = all - frozen;
    }
  }

  double operator()(const Candidate& c) const {
    const int epochs = filled(job_, c, samples_, kTrialPart).train.epochs;
    const int maps = has_parts_ ? std::max(c.views, epochs) : c.views;
    return maps * frozen_.at(c.layers) + 3.0 * epochs * trained_.at(c.layers);
  }

 private:
  daemon::JobSpec job_;
  bool has_parts_;  // another one in each epoch
  std::size_t samples_;
  std::map<Depth, double> frozen_, trained_;
};

std::vector<int> open_views(const StoredModel& base, const NightData& data) {
  const bool seen_otherwise = base.kind->has_views() && data.origins().global_features == nullptr;
  return seen_otherwise ? std::vector{1, kViews} : std::vector{1};
}

}  // namespace

Depths depths_of(const ModelDescription& model) {
  const auto units = static_cast<int>(weight_units(model).size());
  Depths depths;
  if (units > 1) depths.emplace_back(1);
  if (units > kBetween) depths.emplace_back(kBetween);
  int deep = 0;
  std::int64_t least = 0;
  for (int n = std::min(kMostDeep, units - 1); n >= kLeastDeep; --n) {
    const std::int64_t elements = map_elements(model, n);
    if (deep == 0 || elements < least) std::tie(deep, least) = std::pair(n, elements);
  }
  if (deep > 0) depths.emplace_back(deep);
  depths.emplace_back(std::nullopt);
  return depths;
}

SearchSpace search_space(const daemon::JobSpec& job, const StoredModel& base, const NightData& data,
                         std::size_t samples) {
  const auto open = [&](const char* field) { return job.open.contains(field); };
  SearchSpace space;
  space.depths = open("/freeze/trainable_layers") ? open_depths(base, data)
                                                  : Depths{job.freeze.trainable_layers.count};
  // The deepest head but for all layers, or these if there is nothing between.
  space.deep = space.depths.size() - (space.depths.size() > 2 ? 2 : 1);
  space.work = TrialWork(job, base, space.depths, samples);
  space.rates = open("/train/optimizer/learning_rate");
  const double rate = job.train.optimizer.learning_rate;
  space.classifier_rate = space.rates ? usual_rate(job.train.optimizer, true, *base.task) : rate;
  space.deep_rate = space.rates ? usual_rate(job.train.optimizer, false, *base.task) : rate;
  space.views = open("/augment/views") ? open_views(base, data) : std::vector{job.augment.views};
  // Few steps are enough for rows that were imprinted, of which sequences have none.
  if (open("/train/epochs") && !base.task->teaches_itself())
    space.classifier_steps = {kFewClassifierSteps, kClassifierSteps};
  space.most_global_drop = job.guard.max_global_drop;
  const Metric headline = base.task->headline();
  if (headline.is_fraction && headline.higher_is_better) space.perfect = 1;
  return space;
}

}  // namespace moil::night
