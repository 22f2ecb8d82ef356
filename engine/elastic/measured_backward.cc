#include "engine/elastic/measured_backward.h"

#include "engine/elastic/predicted_step.h"

namespace moil {
namespace {

// parts: of the training's layers.
void take(TimingProfile& profile, bool kernel, double parts, double share) {
  const double seconds = share * (profile.step - profile.forward) - profile.besides;
  if (seconds <= 0 || parts <= 0) return;
  const BackwardTiming backward{parts / backward_parts(profile), seconds / parts};
  auto& known = kernel ? profile.backward : profile.kernelless_backward;
  if (known.empty() || known.back().share < backward.share) known.push_back(backward);
}

}  // namespace

void take_backward(TimingProfile& profile, const Graph& graph,
                   const std::vector<MeasuredBackward>& measured) {
  profile.backward.clear();
  profile.kernelless_backward.clear();
  const double everything = backward_parts(profile);
  for (const MeasuredBackward& m : measured) {
    const double parts = PredictedStep(profile, graph, m.trained).parts();
    if (parts < everything) take(profile, has_last_kernel(m.trained, profile), parts, m.share);
  }
  take(profile, /*kernel=*/true, everything, 1);
}

}  // namespace moil
