#include "engine/elastic/interval_selection.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "engine/elastic/backward_time.h"
#include "engine/elastic/predicted_step.h"
#include "engine/elastic/selection_fill.h"
#include "engine/elastic/tensor_selector.h"

namespace moil {
namespace {

// What a step takes whatever is selected, and what may be: one of the ways to run the layers that
// do not learn.
struct Way {
  ElasticProblem problem;
  double fixed_seconds = 0;
};

Way every_layer_each_time(const TimingProfile& profile) {
  return {elastic_problem(profile), profile.fixed_seconds()};
}

// Once a sample, up to wherever the selection begins.
Way before_the_selection_once(const TimingProfile& profile, double computed) {
  return {elastic_problem(profile, 1 - computed), profile.besides + computed * profile.forward};
}

// From the maps that are there.
Way from_kept_maps(const TimingProfile& profile, const TailCut& cut, double computed) {
  Way way{elastic_problem(profile),
          profile.fixed_seconds() - (1 - computed) * forward_before(cut, profile)};
  const std::set<std::string> behind = weights_behind(cut, profile);
  for (std::size_t e = 0; e < way.problem.entries.size(); ++e)
    if (!behind.contains(way.problem.weights[e])) way.problem.entries[e].selectable = false;
  return way;
}

std::vector<Way> ways(const IntervalStep& step) {
  const TimingProfile& profile = step.profile();
  const TailTerms& tail = step.tail();
  std::vector<Way> all = {every_layer_each_time(profile)};
  if (tail.cuts.empty()) return all;
  if (tail.computed < 1) all.push_back(before_the_selection_once(profile, tail.computed));
  if (const TailCut* kept = cut_at(tail.cuts, tail.kept))
    all.push_back(from_kept_maps(profile, *kept, tail.kept_computed));
  return all;
}

double importance_of(const std::set<std::string>& selection, const IntervalQuestion& question) {
  double sum = 0;
  for (const std::string& name : selection) sum += std::max(0.0, question.importance.at(name));
  return sum;
}

// Measured one by one, the weights of a layer may seem to take less than measured together, and a
// cut is not everywhere: the selector adds up, and what it chose is tried on the graph. What is
// chosen with less time may be too long again: each time it is given up twice as much.
std::set<std::string> select_in_time(const IntervalStep& step, const IntervalQuestion& question,
                                     Way& way) {
  for (std::size_t e = 0; e < way.problem.entries.size(); ++e) {
    if (way.problem.entries[e].selectable)
      way.problem.entries[e].importance = question.importance.at(way.problem.weights[e]);
  }
  SelectorOptions options;
  options.resolution = question.resolution;
  if (question.fits)
    options.fits = [&](const ElasticSelection& s) {
      return question.fits(way.problem.named(s.entries));
    };
  constexpr double kRounding = 1e-9, kLeastStep = 1e-3;  // of the step's time
  double seconds = BackwardTime(step.profile()).parts(question.step_seconds - way.fixed_seconds);
  for (double given_up = 1; seconds >= 0; given_up *= 2) {
    std::set<std::string> selection =
        way.problem.named(select_tensors(way.problem.entries, seconds, options).entries);
    const double excess = step.seconds(selection) - question.step_seconds;
    if (selection.empty() || excess <= kRounding * question.step_seconds) return selection;
    seconds -= given_up * std::max(excess, kLeastStep * question.step_seconds);
  }
  return {};
}

std::set<std::string> without_importance(const IntervalStep& step,
                                         const IntervalQuestion& question) {
  if (question.before && step.seconds(*question.before) <= question.step_seconds)
    return *question.before;
  return cheapest_layer(step.profile()).weights;
}

// Behind the cut alone: the time is what it is because layers before it do not learn.
std::set<std::string> filled_behind(const TailCut& cut, double saved, const IntervalStep& step,
                                    const IntervalQuestion& question,
                                    const std::set<std::string>& selection) {
  const std::set<std::string> behind = weights_behind(cut, step.profile());
  std::map<std::string, double> importance = question.importance;
  std::erase_if(importance, [&](const auto& entry) { return !behind.contains(entry.first); });
  return fill_selection(step.profile(), step.graph(), importance, selection,
                        question.step_seconds + saved, question.fits);
}

// The best of what was offered: what has more importance, and of the same what has more time. Time
// that could train something is not left.
class Choice {
 public:
  Choice(const IntervalStep& step, const IntervalQuestion& question)
      : step_(step), question_(question) {}

  // And what is left of the time.
  void offer_filled(const std::set<std::string>& selection) {
    const TailSaving saving = best_cut(step_.tail(), step_.profile(), selection);
    if (saving.cut) offer(filled_behind(*saving.cut, saving.seconds, step_, question_, selection));
    offer(fill_selection(step_.profile(), step_.graph(), question_.importance, selection,
                         question_.step_seconds, question_.fits));
  }
  bool any() const { return !best_.empty(); }
  std::set<std::string> take() { return std::move(best_); }

 private:
  void offer(std::set<std::string> selection) {
    const std::pair worth(importance_of(selection, question_), step_.seconds(selection));
    if (any() && worth <= worth_) return;
    best_ = std::move(selection);
    worth_ = worth;
  }

  const IntervalStep& step_;
  const IntervalQuestion& question_;
  std::set<std::string> best_;
  std::pair<double, double> worth_;
};

}  // namespace

double IntervalStep::seconds(const std::set<std::string>& selection) const {
  return predicted_step(profile_, graph_, selection) - best_cut(tail_, profile_, selection).seconds;
}

CheapestLayer cheapest_layer(const TimingProfile& profile) {
  CheapestLayer cheapest{{}, std::numeric_limits<double>::infinity()};
  double way = 0;  // from the loss
  for (auto layer = profile.layers.rbegin(); layer != profile.layers.rend(); ++layer) {
    const std::vector<bool> all(layer->weights.size(), true);
    const double seconds = way + layer->update_seconds(all);
    if (!all.empty() && seconds < cheapest.backward_seconds) {
      cheapest = {{}, seconds};
      for (const WeightTiming& w : layer->weights) cheapest.weights.insert(w.name);
    }
    way += layer->derivative;
  }
  cheapest.backward_seconds = BackwardTime(profile).seconds(
      cheapest.backward_seconds, has_last_kernel(cheapest.weights, profile));
  return cheapest;
}

std::set<std::string> select_for_interval(const IntervalStep& step,
                                          const IntervalQuestion& question) {
  Choice choice(step, question);
  for (Way& way : ways(step)) {
    const std::set<std::string> selection = select_in_time(step, question, way);
    if (!selection.empty()) choice.offer_filled(selection);
  }
  if (!choice.any()) choice.offer_filled(without_importance(step, question));
  return choice.take();
}

}  // namespace moil
