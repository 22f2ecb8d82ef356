#include "engine/elastic/timing_profiler.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/median.h"
#include "base/seconds.h"
#include "engine/train/clip.h"
#include "engine/train/finite.h"
#include "engine/train/idle_step.h"
#include "engine/train/step_timer.h"

namespace moil {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostSteps = 40;

// With what a trainer does beside the optimizer: it clips, and looks whether weights are finite.
class TimedUpdates final : public IdleUpdater {
 public:
  using IdleUpdater::IdleUpdater;

  void gradient_ready(const WeightUpdate& update) override {
    const GradientView view{update.gradient, update.elements};
    (void)global_norm({&view, 1});
  }
  void apply(const WeightUpdate& update) override {
    const auto start = Clock::now();
    IdleUpdater::apply(update);
    (void)all_finite(update.weight, update.elements);
    seconds_[std::string(update.name)].push_back(seconds_since(start));
  }

  double median_seconds(const std::string& weight) const { return median(seconds_.at(weight)); }
  void forget() { seconds_.clear(); }

 private:
  std::map<std::string, std::vector<double>> seconds_;
};

class Profiler {
 public:
  Profiler(const TrainingPlanInput& input, const TrainerConfig& config, const WeightMap& weights,
           KernelSelector& kernels)
      : trainable_(input.options.plan.trainable),
        network_(input.model, input.options, kernels),
        updates_(config.optimizer),
        timer_(network_) {
    network_.allocate();
    network_.load(weights);
  }

  void measure(int steps, double seconds) {
    timer_.run(updates_);  // to warm up
    timer_.forget();
    updates_.forget();
    const auto start = Clock::now();
    for (int i = 0; i < steps || (i < kMostSteps && seconds_since(start) < seconds); ++i)
      whole_.push_back(timer_.run(updates_));
  }

  TimingProfile profile() const {
    TimingProfile profile;
    profile.step = median(whole_);
    double layers = 0;
    const auto& nodes = network_.graph().nodes;
    for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
      profile.layers.push_back(layer(nodes[static_cast<std::size_t>(i)], i));
      const LayerTiming& timing = profile.layers.back();
      profile.forward += timing.forward;
      layers += timing.forward + timing.pass;
      for (const WeightTiming& w : timing.weights) layers += w.update;
    }
    profile.besides = std::max(0.0, profile.step - layers);
    return profile;
  }

 private:
  LayerTiming layer(const Node& node, int i) const {
    LayerTiming timing{node.name,
                       timer_.seconds(i, StepKind::kForward),
                       timer_.seconds(i, StepKind::kComputeDerivative),
                       {}};
    double elements = 0;
    std::vector<double> of_weights;
    for (const WeightSpec& w : node.weights) {
      std::string name = weight_name(node, w);
      if (!w.trainable || w.repeats || !trainable_.contains(name)) continue;
      of_weights.push_back(static_cast<double>(w.dims.elements()));
      elements += of_weights.back();
      const double apply = updates_.median_seconds(name);
      timing.weights.push_back({std::move(name), apply});
    }
    const double gradient = timer_.seconds(i, StepKind::kComputeGradient);
    for (std::size_t w = 0; w < of_weights.size(); ++w)
      timing.weights[w].update += gradient * of_weights[w] / elements;
    return timing;
  }

  const std::set<std::string> trainable_;
  Network network_;
  TimedUpdates updates_;
  StepTimer timer_;
  std::vector<double> whole_;
};

}  // namespace

TimingProfile measure_timing(const ModelDescription& model,
                             const std::set<std::string>* trainable_layers,
                             const TrainerConfig& config, const WeightMap& weights,
                             KernelSelector& kernels, int steps, double seconds) {
  Profiler profiler(training_plan_input(model, trainable_layers, config), config, weights, kernels);
  profiler.measure(steps, seconds);
  return profiler.profile();
}

}  // namespace moil
