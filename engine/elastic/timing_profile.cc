#include "engine/elastic/timing_profile.h"

#include <limits>

#include "engine/plan/backward_needs.h"

namespace moil {

CheapestLayer cheapest_layer(const TimingProfile& profile) {
  CheapestLayer cheapest{{}, std::numeric_limits<double>::infinity()};
  double way = 0;  // from the loss
  for (auto layer = profile.layers.rbegin(); layer != profile.layers.rend(); ++layer) {
    double seconds = way;
    for (const WeightTiming& w : layer->weights) seconds += w.update;
    if (!layer->weights.empty() && seconds < cheapest.backward_seconds) {
      cheapest = {{}, seconds};
      for (const WeightTiming& w : layer->weights) cheapest.weights.insert(w.name);
    }
    way += layer->pass;
  }
  return cheapest;
}

double smallest_speedup_ratio(const TimingProfile& profile) {
  // A step of so much is summed in another order: the last digits must not leave a weight out.
  constexpr double kRounding = 1 + 1e-9;
  return kRounding * (profile.fixed_seconds() + cheapest_layer(profile).backward_seconds) /
         profile.step;
}

double predicted_step(const TimingProfile& profile, const Graph& graph,
                      const std::set<std::string>& selection) {
  const BackwardNeeds needs = backward_needs(graph, selection);
  double seconds = profile.fixed_seconds();
  for (std::size_t i = 0; i < profile.layers.size(); ++i) {
    const LayerTiming& layer = profile.layers[i];
    for (const WeightTiming& w : layer.weights)
      if (selection.contains(w.name)) seconds += w.update;
    if (needs.derivative_of_inputs(graph.nodes[i])) seconds += layer.pass;
  }
  return seconds;
}

std::set<std::string> ElasticProblem::named(const std::vector<std::size_t>& selected) const {
  std::set<std::string> names;
  for (const std::size_t e : selected) names.insert(weights[e]);
  return names;
}

ElasticProblem elastic_problem(const TimingProfile& profile, double forward_share) {
  ElasticProblem problem;
  for (std::size_t i = profile.layers.size(); i-- > 0;) {
    const LayerTiming& layer = profile.layers[i];
    const double forward = forward_share * layer.forward;
    for (const WeightTiming& w : layer.weights) {
      problem.entries.push_back({.update_seconds = w.update, .deepest_seconds = forward});
      problem.weights.push_back(w.name);
    }
    problem.entries.push_back({.pass_seconds = layer.pass + forward, .selectable = false});
    problem.weights.emplace_back();
    problem.layers.resize(problem.weights.size(), i);
  }
  return problem;
}

}  // namespace moil
