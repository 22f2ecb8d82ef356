#include "engine/elastic/measured_backward.h"

#include <algorithm>
#include <cmath>

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

class MeasuredCurves {
 public:
  explicit MeasuredCurves(const TimingProfile& profile) : profile_(profile) {}

  void add(const MeasuredBackward& measured, const PredictedStep& step) {
    const double full = profile_.step - profile_.forward, parts = step.parts();
    const double seconds = measured.share * full - profile_.besides + step.saved();
    if (seconds <= 0 || parts <= 0) return;
    const bool kernel = has_last_kernel(measured.trained, profile_);
    (kernel ? with_ : without_).push_back({parts / backward_parts(profile_), seconds / parts});
  }

  // Everything, which was added last, takes what it takes.
  Curve with_kernel() const {
    Curve curve = smoothed(with_);
    if (!curve.empty() && curve.back().share == with_.back().share) curve.back() = with_.back();
    return curve;
  }
  Curve without_kernel() const { return smoothed(without_); }

 private:
  const TimingProfile& profile_;
  Curve with_, without_;  // the last kernel
};

}  // namespace

void take_backward(TimingProfile& profile, const Graph& graph,
                   const std::vector<MeasuredBackward>& measured) {
  profile.backward.clear();
  profile.kernelless_backward.clear();
  MeasuredCurves curves(profile);
  const MeasuredBackward all{everything(profile), 1};
  const PredictedStep step_of_all(profile, graph, all.trained);
  for (const MeasuredBackward& m : measured) {
    const PredictedStep step(profile, graph, m.trained);
    if (step.parts() < step_of_all.parts()) curves.add(m, step);
  }
  curves.add(all, step_of_all);
  profile.backward = curves.with_kernel();
  profile.kernelless_backward = curves.without_kernel();
}

}  // namespace moil
