#include "engine/elastic/timing_profiler.h"

#include <algorithm>
#include <chrono>

#include "base/median.h"
#include "base/seconds.h"
#include "engine/elastic/backward_samples.h"
#include "engine/elastic/measured_backward.h"

namespace moil {
namespace {

using Clock = std::chrono::steady_clock;

// Where there is time for more: enough for a median, and so many of a round.
constexpr int kFurtherRounds = 12, kFurtherRuns = 2;

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
      graph_(build_graph(input_.model, input_.options.batch)),
      all_(input_.options.plan.trainable) {
  std::size_t most = 0;  // weights of a node
  for (const Node& node : graph_.nodes) {
    weights_of_.push_back(trainable_of(node, input_.options.plan.trainable));
    most = std::max(most, weights_of_.back().size());
  }
  const auto& of_last = weights_of_[at(last())];
  hardly_ = &training_of(with_first({}));
  last_alone_ = &training_of({of_last.begin(), of_last.end()});
  for (std::size_t w = 0; most > 1 && w < most; ++w)
    alone_.push_back(&training_of(trained_alone(w)));
}

void TimingProfiler::measure_round(int runs) {
  measure_in_turns(trainings(Which::kAll), runs);
  if (!samples_.empty()) return;
  const TimingProfile parts = parts_profile();
  for (const auto& trained : backward_samples(parts, graph_))
    samples_.push_back(&training_of(trained));
  for (const std::string& weight : large_weights(parts))
    lone_.emplace(weight, &training_of({weight}));
  measure_in_turns(trainings(Which::kUnmeasured), runs);
}

// Full training has a turn between two others.
void TimingProfiler::measure_in_turns(const std::vector<Compared*>& trainings, int runs) {
  MeasuredTraining::Seconds full;
  for (std::size_t i = 0; i < trainings.size(); ++i) {
    const MeasuredTraining::Seconds own = measure(trainings[i]->training, runs);
    if (i % 2 == 0) full = measure(all_, runs);
    trainings[i]->forward.push_back(own.forward / full.forward);
    trainings[i]->backward.push_back(own.backward / full.backward);
  }
}

MeasuredTraining::Seconds TimingProfiler::measure(MeasuredTraining& training, int runs) {
  return training.measure(input_, config_, weights_, kernels_, runs);
}

std::vector<TimingProfiler::Compared*> TimingProfiler::trainings(Which which) {
  std::vector<Compared*> found;
  for (auto& [trained, compared] : trainings_) {
    if (which == Which::kAll || compared.forward.empty()) found.push_back(&compared);
  }
  return found;
}

TimingProfile TimingProfiler::profile() const {
  TimingProfile profile = parts_profile();
  take_lone(profile);
  std::vector<MeasuredBackward> measured;
  for (const Compared* sample : samples_)
    measured.push_back({sample->training.trained(), median(sample->backward)});
  take_backward(profile, graph_, measured);
  return profile;
}

std::vector<std::vector<double>> TimingProfiler::backward_shares() const {
  std::vector<std::vector<double>> shares;
  for (const Compared* sample : samples_) shares.push_back(sample->backward);
  return shares;
}

TimingProfile TimingProfiler::parts_profile() const {
  TimingProfile profile = profile_of_all();
  profile.besides = besides();
  take_derivatives(profile);
  for (std::size_t w = 0; w < alone_.size(); ++w) take_alone(w, profile);
  return profile;
}

// Of a small network several trainings may be the same: it is measured once.
TimingProfiler::Compared& TimingProfiler::training_of(const std::set<std::string>& trained) {
  return trainings_.try_emplace(trained, Compared{MeasuredTraining(trained)}).first->second;
}

double TimingProfiler::forward_seconds(const Compared& compared) const {
  return all_.forward_seconds() * median(compared.forward);
}

// By its own forward passes: where less learns they keep less and take less, too.
double TimingProfiler::seconds(const Compared& compared, int node, StepKind kind) const {
  return forward_seconds(compared) * compared.training.passes(node, kind);
}

// Training everything has at least as much of it: more was disturbed.
double TimingProfiler::besides() const {
  return std::min(forward_seconds(*last_alone_) * last_alone_->training.besides_passes(),
                  all_.forward_seconds() * all_.besides_passes());
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

TimingProfile TimingProfiler::profile_of_all() const {
  const double forward = all_.forward_seconds();
  const auto seconds = [&](int node, StepKind kind) { return forward * all_.passes(node, kind); };
  TimingProfile profile;
  profile.forward = forward;
  profile.step = forward * all_.step_passes();
  double layers = 0;  // their medians do not add up to a pass
  for (int i = 0; i < nodes(); ++i) layers += all_.passes(i, StepKind::kForward);
  for (int i = 0; i < nodes(); ++i) {
    LayerTiming& layer = profile.layers.emplace_back();
    layer.layer = graph_.nodes[at(i)].name;
    layer.forward = seconds(i, StepKind::kForward) / layers;
    layer.all_gradient = seconds(i, StepKind::kComputeGradient);
    layer.all_derivative = layer.derivative = seconds(i, StepKind::kComputeDerivative);
    for (const std::string& name : weights_of_[at(i)])
      layer.weights.push_back(
          {name, layer.all_gradient, layer.all_derivative, forward * all_.apply_passes(name)});
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

void TimingProfiler::take_lone(TimingProfile& profile) const {
  for (int i = 0; i < nodes(); ++i) {
    for (WeightTiming& w : profile.layers[at(i)].weights) {
      const auto found = lone_.find(w.name);
      if (found == lone_.end()) continue;
      const Compared& lone = *found->second;
      w.lone_gradient = seconds(lone, i, StepKind::kComputeGradient);
      w.lone_apply = forward_seconds(lone) * lone.training.apply_passes(w.name);
    }
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
