#include "engine/elastic/interval_selection.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/elastic/tensor_selector.h"

namespace moil {
namespace {

// What a step takes whatever is selected, and what may be: one of the ways to run the layers that
// do not learn.
struct Way {
  ElasticProblem problem;
  double fixed_seconds = 0;
};

// Once a sample, up to wherever the selection begins.
Way before_the_selection_once(const TimingProfile& profile, double computed) {
  return {elastic_problem(profile, 1 - computed), profile.besides + computed * profile.forward};
}

// From the maps that are there.
Way from_kept_maps(const TimingProfile& profile, const TailCut& cut, double computed) {
  Way way{elastic_problem(profile),
          profile.fixed_seconds() - (1 - computed) * forward_before(cut, profile)};
  for (std::size_t e = 0; e < way.problem.entries.size(); ++e)
    if (cut.before[way.problem.layers[e]]) way.problem.entries[e].selectable = false;
  return way;
}

std::vector<Way> ways(const TimingProfile& profile, const TailTerms& tail) {
  // Every layer each time.
  std::vector<Way> all = {{elastic_problem(profile), profile.fixed_seconds()}};
  if (tail.cuts.empty()) return all;
  if (tail.computed < 1) all.push_back(before_the_selection_once(profile, tail.computed));
  if (const TailCut* kept = cut_at(tail.cuts, tail.kept))
    all.push_back(from_kept_maps(profile, *kept, tail.kept_computed));
  return all;
}

struct Chosen {
  std::set<std::string> weights;
  double importance = 0, seconds = 0;
};

// What a tensor is worth that a probe speaks against, mostly because its one large step went too
// far: little, but more than time that is left over.
double least_worth(const std::map<std::string, double>& importance) {
  double most = 0;
  for (const auto& [name, value] : importance) most = std::max(most, value);
  return most > 0 ? 1e-3 * most : 1;
}

Chosen select_this_way(Way way, const IntervalQuestion& question) {
  const double seconds = question.step_seconds - way.fixed_seconds;
  if (seconds < 0) return {};
  const double least = least_worth(question.importance);
  for (std::size_t e = 0; e < way.problem.entries.size(); ++e) {
    ElasticEntry& entry = way.problem.entries[e];
    if (entry.selectable)
      entry.importance = std::max(least, question.importance.at(way.problem.weights[e]));
  }
  SelectorOptions options;
  options.resolution = question.resolution;
  if (question.fits)
    options.fits = [&](const ElasticSelection& s) {
      return question.fits(way.problem.named(s.entries));
    };
  const ElasticSelection selection = select_tensors(way.problem.entries, seconds, options);
  return {way.problem.named(selection.entries), selection.importance,
          selection.seconds + way.fixed_seconds};
}

}  // namespace

double interval_step(const TimingProfile& profile, const Graph& graph, const TailTerms& tail,
                     const std::set<std::string>& selection) {
  return predicted_step(profile, graph, selection) - best_cut(tail, profile, selection).seconds;
}

double smallest_step(const TimingProfile& profile, const Graph& graph, const TailTerms& tail) {
  constexpr double kRounding = 1 + 1e-9;  // what is summed in another order
  const double whole = smallest_speedup_ratio(profile) * profile.step;
  return std::min(whole,
                  kRounding * interval_step(profile, graph, tail, cheapest_layer(profile).weights));
}

PaceLeast pace_least(const TimingProfile& profile, const Graph& graph, const TailTerms& tail,
                     std::int64_t epochs) {
  TailTerms ready = tail;
  ready.computed = ready.kept_computed = 0;
  PaceLeast least;
  least.share = smallest_step(profile, graph, ready) / profile.step;
  double computing = best_cut(ready, profile, cheapest_layer(profile).weights).seconds;
  if (const TailCut* kept = cut_at(tail.cuts, tail.kept))
    computing -= forward_before(*kept, profile);
  least.once =
      std::max(0.0, computing) / profile.step * tail.computed * static_cast<double>(epochs);
  return least;
}

std::set<std::string> select_for_interval(const IntervalQuestion& question) {
  Chosen best;
  for (Way& way : ways(question.profile, question.tail)) {
    Chosen chosen = select_this_way(std::move(way), question);
    // More importance, and of the same more time: time that could train something is not left.
    if (std::pair(chosen.importance, chosen.seconds) > std::pair(best.importance, best.seconds))
      best = std::move(chosen);
  }
  return best.weights.empty() ? cheapest_layer(question.profile).weights : best.weights;
}

}  // namespace moil
