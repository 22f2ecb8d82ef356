#include "engine/elastic/profile_update.h"

#include <algorithm>

#include "base/error.h"
#include "engine/elastic/backward_time.h"

namespace moil {
namespace {

double seconds_of_everything(const TimingProfile& profile) {
  return profile.fixed_seconds() + BackwardTime(profile).seconds(backward_parts(profile), true);
}

class ProfileUpdate {
 public:
  ProfileUpdate(const TimingProfile& profile, const StepSeconds& measured,
                const std::set<std::string>& selection)
      : before_(profile),
        measured_(measured),
        selection_(selection),
        lone_(lone_weight(selection, profile)),
        forward_change_(forward_change()),
        factor_(factor()) {}

  TimingProfile run() const {
    TimingProfile now = before_;
    now.besides *= forward_change_;
    now.forward = 0;
    for (std::size_t i = 0; i < now.layers.size(); ++i) {
      now.layers[i] = updated(static_cast<int>(i));
      now.forward += now.layers[i].forward;
    }
    // A whole step and the sum of its parts differ a little, now as before.
    now.step = before_.step * seconds_of_everything(now) / seconds_of_everything(before_);
    return now;
  }

 private:
  double seconds(int node, StepKind kind) const {
    const auto found = measured_.find({node, kind});
    return found == measured_.end() ? 0 : found->second;
  }

  double forward_change() const {
    double forward = 0, before = 0;
    for (std::size_t i = 0; i < before_.layers.size(); ++i) {
      const double measured = seconds(static_cast<int>(i), StepKind::kForward);
      forward += measured;
      if (measured > 0) before += before_.layers[i].forward;
    }
    if (forward > 0 && before > 0) return forward / before;
    throw Error(ErrorCode::kInvalidArgument, "profile update: no forward pass was measured");
  }

  // What the steps took of their layers' parts, before.
  double factor() const {
    double parts = 0;
    for (std::size_t i = 0; i < before_.layers.size(); ++i) {
      const LayerTiming& layer = before_.layers[i];
      const std::vector<bool> learns = layer.learning(selection_);
      parts += layer.update_seconds(learns);
      if (seconds(static_cast<int>(i), StepKind::kComputeDerivative) > 0)
        parts += layer.pass_seconds(learns);
    }
    if (parts <= 0) return 1;
    return BackwardTime(before_).seconds(parts, has_last_kernel(selection_, before_)) / parts;
  }

  // As a part of what it took before; what was not measured as the forward pass.
  double change(int node, StepKind kind, double before) const {
    const double now = seconds(node, kind);
    return now > 0 && before > 0 ? now / before : forward_change_;
  }
  double backward_change(int node, StepKind kind, double parts, double saved = 0) const {
    return change(node, kind, factor_ * parts - saved);
  }

  // The only large weight that was trained, if it is this layer's, and nothing deeper.
  const WeightTiming* lone_of(int node) const {
    const auto& weights = before_.layers[static_cast<std::size_t>(node)].weights;
    const bool is_own =
        std::ranges::any_of(weights, [&](const WeightTiming& w) { return &w == lone_; });
    return is_own && !measured_.contains({node, StepKind::kComputeDerivative}) ? lone_ : nullptr;
  }

  LayerTiming updated(int node) const {
    LayerTiming layer = before_.layers[static_cast<std::size_t>(node)];
    const std::vector<bool> learns = layer.learning(selection_);
    const WeightTiming* lone = lone_of(node);
    const double gradients =
        backward_change(node, StepKind::kComputeGradient, layer.gradient_seconds(learns),
                        lone ? lone->saved_gradient() : 0);
    const double derivatives =
        backward_change(node, StepKind::kComputeDerivative, layer.pass_seconds(learns));
    const double applies =
        backward_change(node, StepKind::kApplyGradient, layer.apply_seconds(learns),
                        lone ? lone->saved_apply() : 0);
    layer.forward *= change(node, StepKind::kForward, layer.forward);
    layer.derivative *= derivatives;
    layer.all_derivative *= derivatives;
    layer.all_gradient *= gradients;
    for (WeightTiming& w : layer.weights) {
      w.gradient *= gradients;
      w.lone_gradient *= gradients;
      w.derivative *= derivatives;
      w.apply *= applies;
      w.lone_apply *= applies;
    }
    return layer;
  }

  const TimingProfile& before_;
  const StepSeconds& measured_;
  const std::set<std::string>& selection_;
  const WeightTiming* const lone_;
  const double forward_change_, factor_;
};

}  // namespace

StepSeconds mean_seconds(const NetworkPlan& plan, const std::vector<double>& orders,
                         double passes) {
  StepSeconds seconds;
  for (const PlannedStep& step : plan.steps)
    seconds[{step.node, step.kind}] = orders[static_cast<std::size_t>(step.order)] / passes;
  return seconds;
}

TimingProfile updated_profile(const TimingProfile& profile, const StepSeconds& measured,
                              const std::set<std::string>& selection) {
  return ProfileUpdate(profile, measured, selection).run();
}

}  // namespace moil
