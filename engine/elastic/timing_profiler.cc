#include "engine/elastic/timing_profiler.h"

#include <algorithm>
#include <chrono>

#include "base/seconds.h"
#include "engine/elastic/predicted_step.h"

namespace moil {
namespace {

using Clock = std::chrono::steady_clock;

// Where there is time for more: enough for a median, and so many of a round.
constexpr int kFurtherRounds = 12, kFurtherRuns = 2;

// Of a backward pass that trains everything: where it takes another time than its layers' parts
// varies most among the shortest ones.
constexpr double kTailShares[] = {0.1, 0.25, 0.5};

std::vector<std::string> trainable_of(const Node& node, const std::set<std::string>& candidates) {
  std::vector<std::string> names;
  for (const WeightSpec& w : node.weights) {
    std::string name = weight_name(node, w);
    if (w.trainable && candidates.contains(name)) names.push_back(std::move(name));
  }
  return names;
}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

TimingProfiler::TimingProfiler(const ModelDescription& model,
                               const std::set<std::string>* trainable_layers,
                               const TrainerConfig& config, const WeightMap& weights,
                               KernelSelector& kernels)
    : config_(config),
      weights_(weights),
      kernels_(kernels),
      input_(training_plan_input(model, trainable_layers, config)),
      graph_(build_graph(input_.model, input_.options.batch)) {
  std::size_t most = 0;  // weights of a node
  for (const Node& node : graph_.nodes) {
    weights_of_.push_back(trainable_of(node, input_.options.plan.trainable));
    most = std::max(most, weights_of_.back().size());
  }
  const auto& of_last = weights_of_[at(last())];
  all_ = &training_of(input_.options.plan.trainable);
  hardly_ = &training_of(with_first({}));
  last_alone_ = &training_of({of_last.begin(), of_last.end()});
  for (std::size_t w = 0; most > 1 && w < most; ++w)
    alone_.push_back(&training_of(trained_alone(w)));
}

void TimingProfiler::measure_round(int runs) {
  for (auto& [trained, training] : trainings_)
    training.measure(input_, config_, weights_, kernels_, runs);
  if (!tails_.empty()) return;
  choose_tails();
  for (const std::set<std::string>& tail : tails_) {
    MeasuredTraining& training = training_of(tail);
    if (!training.measured()) training.measure(input_, config_, weights_, kernels_, runs);
  }
}

TimingProfile TimingProfiler::profile() {
  TimingProfile profile = parts_profile();
  take_tails(profile);
  return profile;
}

TimingProfile TimingProfiler::parts_profile() {
  TimingProfile profile = profile_of_all();
  profile.besides = last_alone_->forward_seconds() * last_alone_->besides_passes();
  take_derivatives(profile);
  for (std::size_t w = 0; w < alone_.size(); ++w) take_alone(w, profile);
  return profile;
}

// Of a small network several trainings may be the same: it is measured once.
MeasuredTraining& TimingProfiler::training_of(const std::set<std::string>& trained) {
  return trainings_.try_emplace(trained, trained).first->second;
}

// By its own forward passes: where less learns they keep less and take less, too.
double TimingProfiler::seconds(const MeasuredTraining& training, int node, StepKind kind) {
  return training.forward_seconds() * training.passes(node, kind);
}

// The layer nearest the input that may be trained.
int TimingProfiler::first() const {
  int i = 0;
  while (i + 1 < nodes() && weights_of_[at(i)].empty()) ++i;
  return i;
}

// And the one nearest the output.
int TimingProfiler::last() const {
  int i = nodes() - 1;
  while (i > 0 && weights_of_[at(i)].empty()) --i;
  return i;
}

// What is selected, and the first layer's weights, so that the error passes everything.
std::set<std::string> TimingProfiler::with_first(std::set<std::string> names) const {
  const auto& deepest = weights_of_[at(first())];
  names.insert(deepest.begin(), deepest.end());
  return names;
}

// Each layer's weight number w, of layers that have several.
std::set<std::string> TimingProfiler::trained_alone(std::size_t w) const {
  std::set<std::string> names;
  for (const auto& of_layer : weights_of_) {
    if (w < of_layer.size()) names.insert(of_layer[w]);
  }
  return w < weights_of_[at(first())].size() ? names : with_first(names);
}

TimingProfile TimingProfiler::profile_of_all() {
  const double forward = all_->forward_seconds();
  TimingProfile profile;
  profile.step = forward * all_->step_passes();
  for (int i = 0; i < nodes(); ++i) {
    LayerTiming& layer = profile.layers.emplace_back();
    layer.layer = graph_.nodes[at(i)].name;
    layer.forward = seconds(*all_, i, StepKind::kForward);
    profile.forward += layer.forward;
    layer.all_gradient = seconds(*all_, i, StepKind::kComputeGradient);
    layer.all_derivative = layer.derivative = seconds(*all_, i, StepKind::kComputeDerivative);
    for (const std::string& name : weights_of_[at(i)])
      layer.weights.push_back(
          {name, layer.all_gradient, layer.all_derivative, forward * all_->apply_passes(name)});
  }
  return profile;
}

void TimingProfiler::take_derivatives(TimingProfile& profile) const {
  for (int i = 0; i < nodes(); ++i) {
    if (!weights_of_[at(i)].empty() && i != first())
      profile.layers[at(i)].derivative = seconds(*hardly_, i, StepKind::kComputeDerivative);
  }
}

void TimingProfiler::take_alone(std::size_t w, TimingProfile& profile) const {
  for (int i = 0; i < nodes(); ++i) {
    if (weights_of_[at(i)].size() < 2 || w >= weights_of_[at(i)].size()) continue;
    WeightTiming& weight = profile.layers[at(i)].weights[w];
    weight.gradient = seconds(*alone_[w], i, StepKind::kComputeGradient);
    weight.derivative = seconds(*alone_[w], i, StepKind::kComputeDerivative);
  }
}

// The last layer, more and more of those before it, and all.
void TimingProfiler::choose_tails() {
  const TimingProfile profile = parts_profile();
  const auto& of_last = weights_of_[at(last())];
  std::set<std::string> tail(of_last.begin(), of_last.end());
  tails_.push_back(tail);
  const double whole = backward_parts(profile);
  std::size_t next = 0;
  for (int i = last() - 1; i > first() && next < std::size(kTailShares); --i) {
    const auto& of_layer = weights_of_[at(i)];
    tail.insert(of_layer.begin(), of_layer.end());
    if (of_layer.empty() || parts_of(profile, tail) < kTailShares[next] * whole) continue;
    tails_.push_back(tail);
    while (next < std::size(kTailShares) && parts_of(profile, tail) >= kTailShares[next] * whole)
      ++next;
  }
  tails_.push_back(input_.options.plan.trainable);
}

double TimingProfiler::parts_of(const TimingProfile& profile,
                                const std::set<std::string>& trained) const {
  return PredictedStep(profile, graph_, trained).parts();
}

void TimingProfiler::take_tails(TimingProfile& profile) const {
  const double whole = backward_parts(profile);
  for (const std::set<std::string>& tail : tails_) {
    const MeasuredTraining& training = trainings_.at(tail);
    const double parts = parts_of(profile, tail);
    const double seconds =
        training.forward_seconds() * (training.step_passes() - 1) - profile.besides;
    if (seconds <= 0 || parts <= 0) continue;
    if (!profile.tails.empty() && parts <= profile.tails.back().share * whole) continue;
    profile.tails.push_back({parts / whole, seconds / parts});
  }
}

void measure_timing(TimingProfiler& profiler, int runs, double seconds) {
  const auto start = Clock::now();
  for (int round = 0; round < measuring_rounds(runs); ++round)
    profiler.measure_round(runs_of_round(runs, round));
  for (int more = 0; more < kFurtherRounds && seconds_since(start) < seconds; ++more)
    profiler.measure_round(kFurtherRuns);
}

TimingProfile measure_timing(const ModelDescription& model,
                             const std::set<std::string>* trainable_layers,
                             const TrainerConfig& config, const WeightMap& weights,
                             KernelSelector& kernels, int runs, double seconds) {
  TimingProfiler profiler(model, trainable_layers, config, weights, kernels);
  measure_timing(profiler, runs, seconds);
  return profiler.profile();
}

}  // namespace moil
