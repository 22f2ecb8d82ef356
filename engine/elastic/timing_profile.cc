#include "engine/elastic/timing_profile.h"

#include <algorithm>

namespace moil {

std::vector<bool> LayerTiming::learning(const std::set<std::string>& selection) const {
  std::vector<bool> learns;
  for (const WeightTiming& w : weights) learns.push_back(selection.contains(w.name));
  return learns;
}

double LayerTiming::gradient_seconds(const std::vector<bool>& learns) const {
  double alone = 0;
  std::size_t count = 0;
  for (std::size_t w = 0; w < weights.size(); ++w) {
    if (!learns[w]) continue;
    ++count;
    alone += weights[w].gradient;
  }
  if (count < 2) return alone;
  return count == weights.size() ? all_gradient : std::min(alone, all_gradient);
}

double LayerTiming::apply_seconds(const std::vector<bool>& learns) const {
  double seconds = 0;
  for (std::size_t w = 0; w < weights.size(); ++w) {
    if (learns[w]) seconds += weights[w].apply;
  }
  return seconds;
}

double LayerTiming::update_seconds(const std::vector<bool>& learns) const {
  return gradient_seconds(learns) + apply_seconds(learns);
}

double LayerTiming::pass_seconds(const std::vector<bool>& learns) const {
  double seconds = derivative;
  std::size_t count = 0;
  for (std::size_t w = 0; w < weights.size(); ++w) {
    if (!learns[w]) continue;
    seconds = count++ == 0 ? weights[w].derivative : std::min(seconds, weights[w].derivative);
  }
  return count > 0 && count == weights.size() ? all_derivative : seconds;
}

const WeightTiming* last_kernel(const TimingProfile& profile) {
  for (auto layer = profile.layers.rbegin(); layer != profile.layers.rend(); ++layer) {
    if (layer->weights.empty()) continue;
    const auto update = [](const WeightTiming& w) { return w.gradient + w.apply; };
    return &*std::ranges::max_element(layer->weights, {}, update);
  }
  return nullptr;
}

bool has_last_kernel(const std::set<std::string>& selection, const TimingProfile& profile) {
  const WeightTiming* kernel = last_kernel(profile);
  return kernel && selection.contains(kernel->name);
}

const WeightTiming* lone_weight(const std::set<std::string>& selection,
                                const TimingProfile& profile) {
  const WeightTiming* lone = nullptr;
  for (const LayerTiming& layer : profile.layers) {
    for (const WeightTiming& w : layer.weights) {
      if (!w.is_large() || !selection.contains(w.name)) continue;
      if (lone) return nullptr;
      lone = &w;
    }
  }
  return lone;
}

double backward_parts(const TimingProfile& profile) {
  double seconds = 0;
  for (const LayerTiming& layer : profile.layers) {
    seconds += layer.all_gradient + layer.all_derivative;
    for (const WeightTiming& w : layer.weights) seconds += w.apply;
  }
  return seconds;
}

TimingProfile scaled(const TimingProfile& profile, double factor) {
  TimingProfile result = profile;
  for (double* seconds : {&result.forward, &result.step, &result.besides}) *seconds *= factor;
  for (LayerTiming& layer : result.layers) {
    for (double* seconds :
         {&layer.forward, &layer.derivative, &layer.all_gradient, &layer.all_derivative})
      *seconds *= factor;
    for (WeightTiming& w : layer.weights) {
      for (double* seconds :
           {&w.gradient, &w.derivative, &w.apply, &w.lone_gradient, &w.lone_apply})
        *seconds *= factor;
    }
  }
  return result;
}

std::set<std::string> ElasticProblem::named(const std::vector<std::size_t>& selected) const {
  std::set<std::string> names;
  for (const std::size_t e : selected) names.insert(weights[e]);
  return names;
}

ElasticProblem elastic_problem(const TimingProfile& profile, double forward_share) {
  ElasticProblem problem;
  for (auto layer = profile.layers.rbegin(); layer != profile.layers.rend(); ++layer) {
    const double forward = forward_share * layer->forward;
    for (std::size_t w = 0; w < layer->weights.size(); ++w) {
      std::vector<bool> alone(layer->weights.size());
      alone[w] = true;
      const double update = layer->update_seconds(alone);
      // Where the error passes anyway, a batch norm's sums are needed anyway.
      const double saved = std::clamp(layer->derivative - layer->pass_seconds(alone), 0.0, update);
      problem.entries.push_back(
          {.update_seconds = update - saved, .deepest_seconds = saved + forward});
      problem.weights.push_back(layer->weights[w].name);
    }
    problem.entries.push_back({.pass_seconds = layer->derivative + forward, .selectable = false});
    problem.weights.emplace_back();
  }
  return problem;
}

}  // namespace moil
