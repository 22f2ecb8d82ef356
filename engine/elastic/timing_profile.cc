#include "engine/elastic/timing_profile.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/seconds.h"
#include "engine/elastic/measured_training.h"

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

class Profiler {
 public:
  Profiler(const ModelDescription& model, const std::set<std::string>* layers,
           const TrainerConfig& config, const WeightMap& weights, KernelSelector& kernels, int runs,
           double seconds)
      : config_(config),
        weights_(weights),
        kernels_(kernels),
        runs_(runs),
        seconds_(seconds),
        input_(training_plan_input(model, layers, config)),
        graph_(build_graph(input_.model, input_.options.batch)) {
    for (const Node& node : graph_.nodes) {
      weights_of_.push_back(trainable_of(node, input_.options.plan.trainable));
      most_ = std::max(most_, weights_of_.back().size());
    }
  }

  TimingProfile run() {
    const auto& of_last = weights_of_[at(last())];
    MeasuredTraining& all = training_of(input_.options.plan.trainable);
    MeasuredTraining& hardly = training_of(with_first({}));
    MeasuredTraining& last_alone = training_of({of_last.begin(), of_last.end()});
    std::vector<MeasuredTraining*> alone;  // each layer's weight number so much
    for (std::size_t w = 0; most_ > 1 && w < most_; ++w)
      alone.push_back(&training_of(trained_alone(w)));
    measure();
    TimingProfile profile = profile_of(all);
    profile.besides = forward_ * last_alone.besides_passes();
    take_derivatives(hardly, profile);
    for (std::size_t w = 0; w < alone.size(); ++w) take_alone(*alone[w], w, profile);
    take_last(last_alone, profile);
    return profile;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int nodes() const { return static_cast<int>(graph_.nodes.size()); }

  // Of a small network several trainings may be the same: it is measured once.
  MeasuredTraining& training_of(const std::set<std::string>& trained) {
    return trainings_.try_emplace(trained, trained).first->second;
  }

  void measure() {
    const auto start = Clock::now();
    for (int round = 0; round < measuring_rounds(runs_); ++round)
      measure_round(runs_of_round(runs_, round));
    for (int more = 0; more < kFurtherRounds && seconds_since(start) < seconds_; ++more)
      measure_round(kFurtherRuns);
  }

  void measure_round(int runs) {
    for (auto& [trained, training] : trainings_)
      training.measure(input_, config_, weights_, kernels_, runs);
  }

  double seconds(const MeasuredTraining& training, int node, StepKind kind) const {
    return forward_ * training.passes(node, kind);
  }

  // The layer nearest the input that may be trained.
  int first() const {
    int i = 0;
    while (i + 1 < nodes() && weights_of_[at(i)].empty()) ++i;
    return i;
  }

  // And the one nearest the output.
  int last() const {
    int i = nodes() - 1;
    while (i > 0 && weights_of_[at(i)].empty()) --i;
    return i;
  }

  // What is selected, and the first layer's weights, so that the error passes everything.
  std::set<std::string> with_first(std::set<std::string> names) const {
    const auto& deepest = weights_of_[at(first())];
    names.insert(deepest.begin(), deepest.end());
    return names;
  }

  // Each layer's weight number w, of layers that have several.
  std::set<std::string> trained_alone(std::size_t w) const {
    std::set<std::string> names;
    for (const auto& of_layer : weights_of_) {
      if (w < of_layer.size()) names.insert(of_layer[w]);
    }
    return w < weights_of_[at(first())].size() ? names : with_first(names);
  }

  TimingProfile profile_of(const MeasuredTraining& all) {
    forward_ = all.forward_seconds();
    TimingProfile profile;
    profile.step = forward_ * all.step_passes();
    for (int i = 0; i < nodes(); ++i) {
      LayerTiming& layer = profile.layers.emplace_back();
      layer.layer = graph_.nodes[at(i)].name;
      layer.forward = seconds(all, i, StepKind::kForward);
      profile.forward += layer.forward;
      layer.all_gradient = seconds(all, i, StepKind::kComputeGradient);
      layer.all_derivative = layer.derivative = seconds(all, i, StepKind::kComputeDerivative);
      for (const std::string& name : weights_of_[at(i)])
        layer.weights.push_back(
            {name, layer.all_gradient, layer.all_derivative, forward_ * all.apply_passes(name)});
    }
    return profile;
  }

  void take_derivatives(const MeasuredTraining& hardly, TimingProfile& profile) const {
    for (int i = 0; i < nodes(); ++i) {
      if (!weights_of_[at(i)].empty() && i != first())
        profile.layers[at(i)].derivative = seconds(hardly, i, StepKind::kComputeDerivative);
    }
  }

  void take_alone(const MeasuredTraining& alone, std::size_t w, TimingProfile& profile) const {
    for (int i = 0; i < nodes(); ++i) {
      if (weights_of_[at(i)].size() < 2 || w >= weights_of_[at(i)].size()) continue;
      WeightTiming& weight = profile.layers[at(i)].weights[w];
      weight.gradient = seconds(alone, i, StepKind::kComputeGradient);
      weight.derivative = seconds(alone, i, StepKind::kComputeDerivative);
    }
  }

  // The last layer's gradients where nothing else learns: in the memory that the forward pass has
  // just used, maybe on another core. That took up to three times as long as in the training of
  // everything, where the same memory has rested since the step before. What it takes more is the
  // largest gradient's.
  void take_last(const MeasuredTraining& alone, TimingProfile& profile) const {
    LayerTiming& layer = profile.layers[at(last())];
    if (last() == first() || layer.all_gradient <= 0) return;
    const double gradient = seconds(alone, last(), StepKind::kComputeGradient);
    const auto less = [](const WeightTiming& a, const WeightTiming& b) {
      return a.gradient < b.gradient;
    };
    std::max_element(layer.weights.begin(), layer.weights.end(), less)->gradient *=
        gradient / layer.all_gradient;
    layer.all_gradient = gradient;
  }

  const TrainerConfig& config_;
  const WeightMap& weights_;
  KernelSelector& kernels_;
  const int runs_;
  const double seconds_;
  const TrainingPlanInput input_;
  const Graph graph_;
  std::vector<std::vector<std::string>> weights_of_;             // by node
  std::size_t most_ = 0;                                         // weights of a node
  std::map<std::set<std::string>, MeasuredTraining> trainings_;  // by what learns
  double forward_ = 0;                                           // seconds
};

}  // namespace

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

TimingProfile measure_timing(const ModelDescription& model,
                             const std::set<std::string>* trainable_layers,
                             const TrainerConfig& config, const WeightMap& weights,
                             KernelSelector& kernels, int runs, double seconds) {
  return Profiler(model, trainable_layers, config, weights, kernels, runs, seconds).run();
}

TimingProfile scaled(const TimingProfile& profile, double factor) {
  TimingProfile result = profile;
  for (double* seconds : {&result.forward, &result.step, &result.besides}) *seconds *= factor;
  for (LayerTiming& layer : result.layers) {
    for (double* seconds :
         {&layer.forward, &layer.derivative, &layer.all_gradient, &layer.all_derivative})
      *seconds *= factor;
    for (WeightTiming& w : layer.weights) {
      for (double* seconds : {&w.gradient, &w.derivative, &w.apply}) *seconds *= factor;
    }
  }
  return result;
}

ElasticProblem elastic_problem(const TimingProfile& profile) {
  ElasticProblem problem;
  for (auto layer = profile.layers.rbegin(); layer != profile.layers.rend(); ++layer) {
    for (std::size_t w = 0; w < layer->weights.size(); ++w) {
      std::vector<bool> alone(layer->weights.size());
      alone[w] = true;
      const double update = layer->update_seconds(alone);
      // Where the error passes anyway, a batch norm's sums are needed anyway.
      const double saved = std::clamp(layer->derivative - layer->pass_seconds(alone), 0.0, update);
      problem.entries.push_back({.update_seconds = update - saved, .deepest_seconds = saved});
      problem.weights.push_back(layer->weights[w].name);
    }
    problem.entries.push_back({.pass_seconds = layer->derivative, .selectable = false});
    problem.weights.emplace_back();
  }
  return problem;
}

}  // namespace moil
