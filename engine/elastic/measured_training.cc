#include "engine/elastic/measured_training.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/median.h"
#include "base/seconds.h"
#include "engine/train/clip.h"
#include "engine/train/finite.h"

namespace moil {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

int measuring_rounds(int runs) { return std::clamp(runs / 2, 1, 3); }

int runs_of_round(int runs, int round) {
  const int rounds = measuring_rounds(runs);
  return runs * (round + 1) / rounds - runs * round / rounds;
}

// And what clipping costs as each gradient is ready. Every step updates in the same order: noting
// a time by its place there takes no time itself, where a small backward pass has some
// microseconds.
class MeasuredTraining::TimedUpdates final : public IdleUpdater {
 public:
  using IdleUpdater::IdleUpdater;

  void gradient_ready(const WeightUpdate& update) override {
    const GradientView view{update.gradient, update.elements};
    (void)global_norm({&view, 1});
  }
  void apply(const WeightUpdate& u) override {
    const auto start = Clock::now();
    IdleUpdater::apply(u);
    (void)all_finite(u.weight, u.elements);  // as a trainer looks
    const double seconds = seconds_since(start);
    if (next_ == updates_.size()) updates_.emplace_back(u.name, 0);
    updates_[next_++].second = seconds;
  }

  void begin_step() { next_ = 0; }
  // Of the last step, by weight.
  const std::vector<std::pair<std::string, double>>& updates() const { return updates_; }

 private:
  std::vector<std::pair<std::string, double>> updates_;
  std::size_t next_ = 0;
};

MeasuredTraining::Seconds MeasuredTraining::measure(TrainingPlanInput input,
                                                    const TrainerConfig& config,
                                                    const WeightMap& weights,
                                                    KernelSelector& kernels, int runs) {
  input.options.plan.trainable = trained_;
  Network network(input.model, input.options, kernels);
  network.allocate();
  network.load(weights);
  TimedUpdates updates(config.optimizer);
  run_step(network, updates);  // to warm up
  std::vector<double> forward, backward;
  for (int run = 0; run < runs; ++run) {
    const Seconds seconds = measure_step(network, updates);
    forward.push_back(seconds.forward);
    backward.push_back(seconds.backward);
    for (const auto& [name, update] : updates.updates())
      updates_[name].push_back(update / seconds.forward);
  }
  forward_.insert(forward_.end(), forward.begin(), forward.end());
  return {median(forward), median(backward)};
}

double MeasuredTraining::passes(int node, StepKind kind) const {
  const auto step = steps_.find({node, kind});
  return step == steps_.end() ? 0 : median(step->second);
}

double MeasuredTraining::apply_passes(const std::string& weight) const {
  return median(updates_.at(weight));
}

double MeasuredTraining::step_passes() const { return median(whole_); }

double MeasuredTraining::besides_passes() const { return median(besides_); }

double MeasuredTraining::forward_seconds() const { return median(forward_); }

double MeasuredTraining::run_step(Network& network, TimedUpdates& updates) {
  fill_inputs_with_zeros(network);
  updates.begin_step();
  const auto start = Clock::now();
  network.train_step(/*random_key=*/1, &updates);
  return seconds_since(start);
}

MeasuredTraining::Seconds MeasuredTraining::measure_step(Network& network, TimedUpdates& updates) {
  std::vector<double> orders(static_cast<std::size_t>(network.plan().last_order) + 1, 0);
  network.measure_orders(&orders);
  const double whole = run_step(network, updates);
  double forward = 0;
  for (const PlannedStep& step : network.plan().steps) {
    if (step.kind == StepKind::kForward) forward += orders[static_cast<std::size_t>(step.order)];
  }
  for (const PlannedStep& step : network.plan().steps)
    steps_[{step.node, step.kind}].push_back(orders[static_cast<std::size_t>(step.order)] /
                                             forward);
  whole_.push_back(whole / forward);
  const double layers = std::accumulate(orders.begin(), orders.end(), 0.0);
  besides_.push_back(std::max(0.0, whole - layers) / forward);
  return {forward, whole - forward};
}

}  // namespace moil
