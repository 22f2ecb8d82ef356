#include "engine/elastic/measured_backward.h"

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

void take(TimingProfile& profile, const MeasuredBackward& measured, const PredictedStep& step) {
  const double full = profile.step - profile.forward, parts = step.parts();
  const double seconds = measured.share * full - profile.besides + step.saved();
  if (seconds <= 0 || parts <= 0) return;
  const BackwardTiming backward{parts / backward_parts(profile), seconds / parts};
  const bool kernel = has_last_kernel(measured.trained, profile);
  auto& known = kernel ? profile.backward : profile.kernelless_backward;
  if (known.empty() || known.back().share < backward.share) known.push_back(backward);
}

}  // namespace

void take_backward(TimingProfile& profile, const Graph& graph,
                   const std::vector<MeasuredBackward>& measured) {
  profile.backward.clear();
  profile.kernelless_backward.clear();
  const MeasuredBackward all{everything(profile), 1};
  const PredictedStep step_of_all(profile, graph, all.trained);
  for (const MeasuredBackward& m : measured) {
    const PredictedStep step(profile, graph, m.trained);
    if (step.parts() < step_of_all.parts()) take(profile, m, step);
  }
  take(profile, all, step_of_all);
}

}  // namespace moil
