#include "engine/elastic/measured_backward.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/elastic/predicted_step.h"

namespace moil {
namespace {

std::set<std::string> everything(const TimingProfile& profile) {
  std::set<std::string> all;
  for (const LayerTiming& layer : profile.layers) {
    for (const WeightTiming& w : layer.weights) all.insert(w.name);
  }
  return all;
}

// How far the shares may be apart that are averaged: a third, about.
constexpr double kWidth = 0.35;

using Curve = std::vector<BackwardTiming>;

// Selections as long as each other take up to a tenth longer or shorter, by what they select.
double mean_factor(const Curve& measured, double share) {
  double sum = 0, weights = 0;
  for (const BackwardTiming& b : measured) {
    const double apart = std::log(b.share / share) / kWidth;
    const double weight = std::exp(-apart * apart / 2);
    sum += weight * b.factor;
    weights += weight;
  }
  return sum / weights;
}

// Shares rise, each but once.
Curve smoothed(Curve measured) {
  std::ranges::sort(measured, {}, &BackwardTiming::share);
  Curve curve;
  for (const BackwardTiming& b : measured) {
    if (curve.empty() || curve.back().share < b.share)
      curve.push_back({b.share, mean_factor(measured, b.share)});
  }
  return curve;
}

// What a training took that comes to so much of a full backward pass; null if that is nothing.
std::optional<BackwardTiming> timing(const TimingProfile& profile, const PredictedStep& step,
                                     double share) {
  const double full = profile.step - profile.forward, parts = step.parts();
  const double seconds = share * full - profile.besides + step.saved();
  if (seconds <= 0 || parts <= 0) return std::nullopt;
  return BackwardTiming{parts / backward_parts(profile), seconds / parts};
}

}  // namespace

void take_backward(TimingProfile& profile, const Graph& graph,
                   const std::vector<MeasuredBackward>& measured) {
  profile.backward.clear();
  profile.kernelless_backward.clear();
  Curve with, without;  // the last kernel
  const PredictedStep step_of_all(profile, graph, everything(profile));
  for (const MeasuredBackward& m : measured) {
    const PredictedStep step(profile, graph, m.trained);
    if (step.parts() >= step_of_all.parts()) continue;
    if (const auto found = timing(profile, step, m.share))
      (has_last_kernel(m.trained, profile) ? with : without).push_back(*found);
  }
  const auto all = timing(profile, step_of_all, 1);
  if (all) with.push_back(*all);
  profile.backward = smoothed(with);
  if (all) profile.backward.back() = *all;  // there are most measurements of it
  profile.kernelless_backward = smoothed(without);
}

}  // namespace moil
