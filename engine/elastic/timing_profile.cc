#include "engine/elastic/timing_profile.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>

#include "base/seconds.h"
#include "engine/train/clip.h"
#include "engine/train/idle_step.h"

namespace moil {
namespace {

using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Where there is time for more: enough for a median, and so many of a round.
constexpr int kFurtherRounds = 12, kFurtherRuns = 2;

// Apart in time: a disturbance spoils one.
int profiling_rounds(int runs) { return std::clamp(runs / 2, 1, 3); }

std::vector<std::string> trainable_of(const Node& node, const std::set<std::string>& candidates) {
  std::vector<std::string> names;
  for (const WeightSpec& w : node.weights) {
    std::string name = weight_name(node, w);
    if (w.trainable && candidates.contains(name)) names.push_back(std::move(name));
  }
  return names;
}

// By weight; and what clipping costs as each gradient is ready.
class TimedUpdates final : public IdleUpdater {
 public:
  using IdleUpdater::IdleUpdater;

  void gradient_ready(const WeightUpdate& update) override {
    const GradientView view{update.gradient, update.elements};
    (void)global_norm({&view, 1});
  }
  void apply(const WeightUpdate& u) override {
    const auto start = Clock::now();
    IdleUpdater::apply(u);
    seconds[std::string(u.name)].push_back(seconds_since(start));
  }

  std::map<std::string, std::vector<double>> seconds;
};

// What the steps take of training that trains some weights, in forward passes: the same work in
// every training. A machine's speed changes from one second to the next; each run is told by its
// own forward pass, and the median counts.
class MeasuredTraining {
 public:
  explicit MeasuredTraining(std::set<std::string> trained) : trained_(std::move(trained)) {}

  // Some runs more.
  void measure(TrainingPlanInput input, const TrainerConfig& config, const WeightMap& weights,
               KernelSelector& kernels, int runs) {
    input.options.plan.trainable = trained_;
    Network network(input.model, input.options, kernels);
    network.allocate();
    network.load(weights);
    TimedUpdates updates(config.optimizer);
    run_step(network, updates);  // to warm up
    updates.seconds.clear();
    std::vector<double> forward;
    for (int run = 0; run < runs; ++run) forward.push_back(measure_step(network, updates));
    for (const auto& [name, seconds] : updates.seconds) {
      for (std::size_t run = 0; run < seconds.size(); ++run)
        updates_[name].push_back(seconds[run] / forward[run]);
    }
    forward_.insert(forward_.end(), forward.begin(), forward.end());
  }

  // 0 for what is not done.
  double passes(int node, StepKind kind) const {
    const auto step = steps_.find({node, kind});
    return step == steps_.end() ? 0 : median(step->second);
  }
  double apply_passes(const std::string& weight) const { return median(updates_.at(weight)); }
  double step_passes() const { return median(whole_); }
  double forward_seconds() const { return median(forward_); }
  // Of a step, outside of its layers.
  double besides_passes() const { return median(besides_); }

 private:
  static double run_step(Network& network, TimedUpdates& updates) {
    fill_inputs_with_zeros(network);
    const auto start = Clock::now();
    network.train_step(/*random_key=*/1, &updates);
    return seconds_since(start);
  }

  // Seconds of the forward pass.
  double measure_step(Network& network, TimedUpdates& updates) {
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
    return forward;
  }

  const std::set<std::string> trained_;
  std::vector<double> forward_, whole_, besides_;  // of each run
  std::map<std::pair<int, StepKind>, std::vector<double>> steps_;
  std::map<std::string, std::vector<double>> updates_;
};

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
    const int rounds = profiling_rounds(runs_);
    for (int round = 0; round < rounds; ++round)
      measure_round(runs_ * (round + 1) / rounds - runs_ * round / rounds);
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

double LayerTiming::update_seconds(const std::vector<bool>& learns) const {
  double alone = 0, apply = 0;
  std::size_t count = 0;
  for (std::size_t w = 0; w < weights.size(); ++w) {
    if (!learns[w]) continue;
    ++count;
    alone += weights[w].gradient;
    apply += weights[w].apply;
  }
  if (count > 1) alone = count == weights.size() ? all_gradient : std::min(alone, all_gradient);
  return alone + apply;
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

int affordable_runs(const TimingProfile& profile, double seconds) {
  std::size_t most = 0;
  for (const LayerTiming& layer : profile.layers) most = std::max(most, layer.weights.size());
  // With all weights, with hardly any, with the last layer's, and with each layer's first, second
  // and so on (fewer where these are the same); of each, a step a round to warm up.
  const double trainings = static_cast<double>(most > 1 ? most + 3 : 3);
  int runs = kProfilingRuns;
  while (runs > 0 && (runs + profiling_rounds(runs)) * trainings * profile.step > seconds) --runs;
  return runs;
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
