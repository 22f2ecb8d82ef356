#include "engine/elastic/elastic_trainer.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>

#include "base/error.h"
#include "engine/elastic/importance.h"
#include "engine/train/schedule.h"

namespace moil {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Seconds of a backward pass that trains this entry alone.
double alone(const ElasticProblem& problem, std::size_t entry) {
  return backward_seconds(problem.entries, std::span(&entry, 1));
}

double cheapest(const ElasticProblem& problem) {
  double seconds = std::numeric_limits<double>::infinity();
  for (std::size_t e = 0; e < problem.entries.size(); ++e) {
    if (problem.entries[e].selectable) seconds = std::min(seconds, alone(problem, e));
  }
  return seconds;
}

void check(const ElasticConfig& elastic, const TimingProfile& profile) {
  const auto fail = [](const std::string& what) {
    throw Error(ErrorCode::kInvalidArgument, "elastic training: " + what);
  };
  if (elastic.interval_epochs < 1) fail("an interval is at least an epoch");
  if (elastic.probe_samples < 1) fail("the probe needs a sample");
  const double smallest = smallest_speedup_ratio(profile);
  if (elastic.speedup_ratio >= smallest) return;
  char text[128];
  std::snprintf(text, sizeof text,
                "rho %.3g is below the smallest possible, %.3g (forward alone: %.3g)",
                elastic.speedup_ratio, smallest, profile.forward / profile.step);
  fail(text);
}

}  // namespace

double smallest_speedup_ratio(const TimingProfile& profile) {
  return (profile.forward + cheapest(elastic_problem(profile))) / profile.step;
}

ElasticTrainer::ElasticTrainer(const ModelDescription& model,
                               const std::set<std::string>& trainable_layers,
                               const TrainerConfig& config, const ElasticConfig& elastic,
                               const TimingProfile& profile, KernelSelector& kernels)
    : model_(model),
      layers_(trainable_layers),
      config_(config),
      elastic_(elastic),
      profile_(profile),
      kernels_(kernels),
      problem_(elastic_problem(profile)) {
  check(elastic_, profile_);
}

ElasticTrainer::~ElasticTrainer() = default;

void ElasticTrainer::start(const WeightMap& weights) { weights_ = weights; }

TrainerConfig ElasticTrainer::config_of(const std::set<std::string>& selection) const {
  TrainerConfig config = config_;
  config.selection = selection;
  return config;
}

// The network's memory goes; what must outlive it stays.
void ElasticTrainer::put_aside() {
  if (!trainer_) return;
  trainer_->network().save(weights_);
  for (const PersistentTensor& tensor : trainer_->network().persistent()) {
    if (tensor.kind != TensorKind::kOptimizerState) continue;
    const auto data = tensor.data();
    waiting_[tensor.name].assign(data.values.begin(), data.values.end());
  }
  state_ = trainer_->state();
  trainer_.reset();
}

void ElasticTrainer::begin(const std::set<std::string>& selection) {
  trainer_ = std::make_unique<Trainer>(model_, &layers_, config_of(selection), kernels_);
  trainer_->allocate(weights_);
  weights_.clear();
  for (const PersistentTensor& tensor : trainer_->network().persistent()) {
    const auto state = waiting_.find(tensor.name);
    if (state == waiting_.end()) continue;
    std::copy(state->second.begin(), state->second.end(), tensor.data().values.begin());
    waiting_.erase(state);
  }
  trainer_->state() = state_;
}

std::map<std::string, double> ElasticTrainer::probe(BatchSource& source,
                                                    const Trainer::Callbacks& callbacks,
                                                    std::int64_t epoch) {
  // An epoch's order is shuffled: its beginning is a uniform sample.
  std::vector<std::int64_t> indices = callbacks.order(epoch);
  indices.resize(std::min(indices.size(), static_cast<std::size_t>(elastic_.probe_samples)));
  const auto count = static_cast<std::int64_t>(indices.size());
  const Graph graph = build_graph(training_plan_input(model_, &layers_, config_).model, count);
  const auto elements = [&](std::size_t input) {
    return static_cast<std::size_t>(
        graph.values[static_cast<std::size_t>(graph.inputs.at(input))].info.dims.elements());
  };
  std::vector<float> inputs(elements(0)), targets(elements(1));
  source.read(indices, inputs.data(), targets.data());
  const std::int64_t per_epoch = steps_of_epoch(source.size(), config_);
  const double rate = learning_rate(config_.schedule, config_.optimizer.learning_rate, state_.step,
                                    per_epoch * config_.epochs, per_epoch);
  return tensor_importance(model_, &layers_, config_, rate, weights_, {inputs, targets, count},
                           kernels_);
}

std::set<std::string> ElasticTrainer::named(const std::vector<std::size_t>& entries) const {
  std::set<std::string> names;
  for (const std::size_t e : entries) names.insert(problem_.weights[e]);
  return names;
}

bool ElasticTrainer::fits(const std::set<std::string>& selection) {
  if (config_.memory_budget_bytes == 0) return true;
  return Trainer(model_, &layers_, config_of(selection), kernels_).planned_bytes() <=
         config_.memory_budget_bytes;
}

// Where no update promises anything: as before, or the cheapest tensor.
std::set<std::string> ElasticTrainer::without_importance() const {
  if (!intervals_.empty()) return intervals_.back().selection;
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t e = 0; e < problem_.entries.size(); ++e) {
    if (!problem_.entries[e].selectable || alone(problem_, e) >= least) continue;
    best = e;
    least = alone(problem_, e);
  }
  return {problem_.weights[best]};
}

std::set<std::string> ElasticTrainer::select(const std::map<std::string, double>& importance) {
  for (std::size_t e = 0; e < problem_.entries.size(); ++e) {
    if (problem_.entries[e].selectable)
      problem_.entries[e].importance = importance.at(problem_.weights[e]);
  }
  SelectorOptions options;
  options.resolution = elastic_.resolution;
  options.fits = [&](const ElasticSelection& s) { return fits(named(s.entries)); };
  const double seconds = elastic_.speedup_ratio * profile_.step - profile_.forward;
  const auto selection = named(select_tensors(problem_.entries, seconds, options).entries);
  return selection.empty() ? without_importance() : selection;
}

void ElasticTrainer::choose(BatchSource& source, const Trainer::Callbacks& callbacks,
                            std::int64_t epoch) {
  put_aside();
  ElasticInterval interval;
  interval.epoch = epoch;
  const auto start = Clock::now();
  interval.importance = probe(source, callbacks, epoch);
  interval.probe_seconds = seconds_since(start);
  const auto probed = Clock::now();
  interval.selection = select(interval.importance);
  interval.selector_seconds = seconds_since(probed);
  begin(interval.selection);
  interval.planned_bytes = trainer_->planned_bytes();
  interval.step_seconds = predicted_step(profile_, trainer_->network().graph(), interval.selection);
  intervals_.push_back(std::move(interval));
}

void ElasticTrainer::resume(std::vector<ElasticInterval> intervals, const TrainState& state) {
  state_ = state;
  intervals_ = std::move(intervals);
  if (intervals_.empty()) return;
  // States that wait are those of what was selected once: they are as large as they were then.
  for (const ElasticInterval& interval : intervals_) {
    put_aside();
    begin(interval.selection);
  }
}

bool ElasticTrainer::run(BatchSource& source, const Trainer::Callbacks& callbacks) {
  const std::int64_t per_epoch = steps_of_epoch(source.size(), config_);
  const std::int64_t total = per_epoch * config_.epochs;
  while (state().step < total) {
    const std::int64_t epoch = state().step / per_epoch;
    if (intervals_.empty() || interval_of(epoch) != interval_of(intervals_.back().epoch))
      choose(source, callbacks, epoch);
    const std::int64_t end =
        std::min(total, (interval_of(epoch) + 1) * elastic_.interval_epochs * per_epoch);
    bool goes_on = true;
    Trainer::Callbacks until = callbacks;
    until.on_step = [&](std::int64_t step, std::int64_t all, double loss) {
      if (callbacks.on_step) goes_on = callbacks.on_step(step, all, loss);
      return goes_on && step < end;
    };
    (void)trainer_->run(source, until);
    if (!goes_on) break;
  }
  return state().step == total;
}

std::vector<PersistentTensor> ElasticTrainer::persistent() {
  if (!trainer_) return {};
  std::vector<PersistentTensor> tensors = trainer_->network().persistent();
  for (auto& [name, values] : waiting_)
    tensors.emplace_back(name, TensorKind::kOptimizerState, values);
  return tensors;
}

void ElasticTrainer::weights_changed() {
  if (trainer_) trainer_->network().weights_changed();
}

void ElasticTrainer::save(WeightMap& weights) const {
  if (trainer_)
    trainer_->network().save(weights);
  else
    for (const auto& [name, tensor] : weights_) weights[name] = tensor;
}

}  // namespace moil
