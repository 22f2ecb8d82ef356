#include "engine/elastic/pace_least.h"

#include <algorithm>

#include "engine/elastic/elastic_overhead.h"

namespace moil {
namespace {

// A step of so much is summed in another order: the last digits must not leave a weight out.
constexpr double kRounding = 1 + 1e-9;

// Where the cheapest layer alone learns, and maps are there.
double saved_by_maps(const TimingProfile& profile, const TailTerms& ready) {
  return best_cut(ready, profile, cheapest_layer(profile).weights).seconds;
}

}  // namespace

double smallest_speedup_ratio(const TimingProfile& profile) {
  return kRounding * (profile.fixed_seconds() + cheapest_layer(profile).backward_seconds) /
         profile.step;
}

double smallest_step(const IntervalStep& step) {
  const double whole = smallest_speedup_ratio(step.profile()) * step.profile().step;
  return std::min(whole, kRounding * step.seconds(cheapest_layer(step.profile()).weights));
}

PaceLeast pace_least(const ProfileInForce& profile, const Graph& graph, const TailTerms& tail,
                     std::int64_t epochs, std::int64_t steps_of_epoch) {
  const double full = profile.profile.step;
  TailTerms ready = tail;
  ready.computed = ready.kept_computed = 0;
  const IntervalStep step(profile.profile, graph, ready);
  PaceLeast least;
  least.share = smallest_share(profile.profile, profile.overhead.value_or(ElasticOverhead{}),
                               smallest_step(step) / full, epochs * steps_of_epoch);
  double computing = saved_by_maps(profile.profile, ready);
  if (const TailCut* kept = cut_at(tail.cuts, tail.kept))
    computing -= forward_before(*kept, profile.profile);
  least.once = std::max(0.0, computing) / full * tail.computed * static_cast<double>(epochs);
  return least;
}

}  // namespace moil
