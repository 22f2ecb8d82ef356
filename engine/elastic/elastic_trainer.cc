#include "engine/elastic/elastic_trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/error.h"
#include "base/process_memory.h"
#include "base/seconds.h"
#include "engine/elastic/predicted_step.h"
#include "engine/elastic/selection_fill.h"
#include "engine/elastic/selection_memory.h"
#include "engine/train/schedule.h"

namespace moil {
namespace {

// A step that takes so much longer or shorter than predicted is another machine's.
constexpr double kDrift = 0.15;
// Of the time that is trained: what probing may take.
constexpr double kMostProbing = 0.01;

using Clock = std::chrono::steady_clock;

struct CheapestLayer {
  const LayerTiming* layer = nullptr;                        // none has weights
  double seconds = std::numeric_limits<double>::infinity();  // of a backward pass that trains it
};

// All weights of a layer: a classifier's bias alone takes least, but teaches it nothing.
CheapestLayer cheapest_layer(const TimingProfile& profile) {
  CheapestLayer cheapest;
  double way = 0;  // from the loss
  for (auto layer = profile.layers.rbegin(); layer != profile.layers.rend(); ++layer) {
    const std::vector<bool> all(layer->weights.size(), true);
    const double seconds = way + layer->update_seconds(all);
    if (!all.empty() && seconds < cheapest.seconds) cheapest = {&*layer, seconds};
    way += layer->derivative;
  }
  return cheapest;
}

}  // namespace

double smallest_speedup_ratio(const TimingProfile& profile) {
  // A step of so much is summed in another order: the last digits must not leave a weight out.
  constexpr double kRounding = 1 + 1e-9;
  return kRounding * (profile.fixed_seconds() + cheapest_layer(profile).seconds) / profile.step;
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

ElasticTrainer::ElasticTrainer(const ModelDescription& model,
                               const std::set<std::string>& trainable_layers,
                               const TrainerConfig& config, const ElasticConfig& elastic,
                               std::vector<ProfileInForce> profiles, KernelSelector& kernels)
    : model_(model),
      layers_(trainable_layers),
      config_(config),
      elastic_(elastic),
      profiles_(std::move(profiles)),
      kernels_(kernels),
      graph_(build_graph(training_plan_input(model_, &layers_, config_).model,
                         micro_batch_of(config_))),
      problem_(elastic_problem(profiles_.at(0).profile)) {
  check(elastic_, profiles_[0].profile);
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
  measure_interval();
  take_step_seconds();
  trainer_->network().discard_transient();  // what is copied takes its place
  trainer_->network().save(weights_);
  for (const PersistentTensor& tensor : trainer_->network().persistent()) {
    if (tensor.kind != TensorKind::kOptimizerState) continue;
    const auto data = tensor.data();
    waiting_[tensor.name].assign(data.values.begin(), data.values.end());
  }
  state_ = trainer_->state();
  trainer_.reset();
}

void ElasticTrainer::begin(std::unique_ptr<Trainer> trainer) {
  trainer_ = std::move(trainer);
  trainer_->allocate(weights_);
  weights_.clear();
  for (const PersistentTensor& tensor : trainer_->network().persistent()) {
    const auto state = waiting_.find(tensor.name);
    if (state == waiting_.end()) continue;
    std::copy(state->second.begin(), state->second.end(), tensor.data().values.begin());
    waiting_.erase(state);
  }
  trainer_->state() = state_;
  begun_at_ = state_.step;
  order_seconds_.assign(static_cast<std::size_t>(trainer_->network().plan().last_order) + 1, 0);
  trainer_->network().measure_orders(&order_seconds_);
}

std::map<std::string, double> ElasticTrainer::probe(BatchSource& source,
                                                    const Trainer::Callbacks& callbacks,
                                                    std::int64_t epoch) {
  // An epoch's order is shuffled: its beginning is a uniform sample.
  std::vector<std::int64_t> indices = callbacks.order(epoch);
  indices.resize(std::min(indices.size(), static_cast<std::size_t>(elastic_.probe_samples)));
  const std::int64_t per_epoch = steps_of_epoch(source.size(), config_);
  const double rate = learning_rate(config_.schedule, config_.optimizer.learning_rate, state_.step,
                                    per_epoch * config_.epochs, per_epoch);
  if (!probe_)
    probe_ = std::make_unique<ImportanceProbe>(model_, &layers_, config_,
                                               static_cast<std::int64_t>(indices.size()), kernels_);
  return probe_->measure(weights_, rate, source, indices, elastic_.metric);
}

// By the profile and what choosing took at first, so that the same profile decides the same.
bool ElasticTrainer::is_time_to_probe(std::int64_t epoch, std::int64_t per_epoch) const {
  if (intervals_.empty()) return true;
  const ProfileInForce& present = profiles_[present_];
  if (!present.overhead) return true;
  const auto steps_of = [&](std::int64_t first_epoch) {
    return static_cast<double>(epochs_of_interval(first_epoch) * per_epoch);
  };
  double trained = smallest_speedup_ratio(present.profile) * present.profile.step * steps_of(epoch);
  double probing = present.overhead->choose;
  for (const ElasticInterval& i : intervals_) {
    trained += i.step_seconds * steps_of(i.epoch);
    if (i.probe_seconds > 0) probing += present.overhead->choose;
  }
  return probing <= kMostProbing * trained;
}

std::set<std::string> ElasticTrainer::named(const std::vector<std::size_t>& entries) const {
  std::set<std::string> names;
  for (const std::size_t e : entries) names.insert(problem_.weights[e]);
  return names;
}

bool ElasticTrainer::fits(const std::set<std::string>& selection) {
  if (elastic_.memory_limit_bytes == 0) return true;
  return planned(selection)->planned_bytes() + waiting_bytes(selection) <=
         elastic_.memory_limit_bytes;
}

std::unique_ptr<Trainer> ElasticTrainer::planned(const std::set<std::string>& selection) const {
  return std::make_unique<Trainer>(model_, &layers_, config_of(selection), kernels_);
}

std::unique_ptr<Trainer> ElasticTrainer::planned_lighter(
    std::set<std::string>& selection, const std::map<std::string, double>& importance) {
  if (full_planned_bytes_ == 0) full_planned_bytes_ = planned({})->planned_bytes();
  std::unique_ptr<Trainer> trainer;
  selection = lightened(std::move(selection), profiles_[present_].profile, importance,
                        most_selection_bytes(elastic_.speedup_ratio, full_planned_bytes_),
                        [&](const std::set<std::string>& s) {
                          trainer = planned(s);
                          return trainer->planned_bytes() + waiting_bytes(s);
                        });
  return trainer;
}

// States are named after their weights.
std::size_t ElasticTrainer::waiting_bytes(const std::set<std::string>& selection) const {
  std::size_t bytes = 0;
  for (const auto& [name, values] : waiting_) {
    if (!selection.contains(name.substr(0, name.rfind('/'))))
      bytes += values.size() * sizeof(float);
  }
  return bytes;
}

// Where no update promises anything: as before where there is time, or the cheapest layer.
std::set<std::string> ElasticTrainer::without_importance(double allowed) const {
  if (!intervals_.empty()) {
    const std::set<std::string>& before = intervals_.back().selection;
    if (predicted_step(profiles_[present_].profile, graph_, before) <= allowed) return before;
  }
  std::set<std::string> names;
  for (const WeightTiming& w : cheapest_layer(profiles_[present_].profile).layer->weights)
    names.insert(w.name);
  return names;
}

// The first probe plans its network, as every choice plans a selection's: it stands for a choice.
void ElasticTrainer::measure_overhead(BatchSource& source, const Trainer::Callbacks& callbacks,
                                      std::int64_t epoch, double probe_seconds) {
  const std::vector<std::int64_t> order = callbacks.order(epoch);
  const auto batch = static_cast<std::size_t>(config_.batch);
  const auto buffer = [&](std::size_t input) {
    const Value& value = graph_.values[static_cast<std::size_t>(graph_.inputs[input])];
    return std::vector<float>(batch * value.info.dims.elements_per_sample());
  };
  std::vector<float> inputs = buffer(0), targets = buffer(1);
  profiles_[present_].overhead = {
      .read = read_seconds(source, std::span(order).first(batch), inputs, targets),
      .choose = probe_seconds};
}

std::int64_t ElasticTrainer::epochs_of_interval(std::int64_t first_epoch) const {
  return std::min(elastic_.interval_epochs, config_.epochs - first_epoch);
}

// By the first profile's smallest step: another profile changes no plan of the whole run.
// steps: of the interval.
double ElasticTrainer::next_share(std::int64_t epoch, std::int64_t steps) const {
  PaceSoFar so_far;
  so_far.epochs = epoch;
  for (const ElasticInterval& i : intervals_)
    so_far.used += i.share * static_cast<double>(epochs_of_interval(i.epoch));
  const ProfileInForce& first = profiles_[0];
  const double smallest = smallest_share(first.profile, first.overhead.value_or(ElasticOverhead{}),
                                         smallest_speedup_ratio(first.profile), steps);
  return share_of_interval(elastic_.pace, elastic_.speedup_ratio, smallest, so_far,
                           epochs_of_interval(epoch), config_.epochs);
}

std::set<std::string> ElasticTrainer::select(const std::map<std::string, double>& importance,
                                             double allowed) {
  for (std::size_t e = 0; e < problem_.entries.size(); ++e) {
    if (problem_.entries[e].selectable)
      problem_.entries[e].importance = importance.at(problem_.weights[e]);
  }
  const std::set<std::string> selection = select_in_time(allowed);
  return fill_selection(profiles_[present_].profile, graph_, importance,
                        selection.empty() ? without_importance(allowed) : selection, allowed,
                        [&](const std::set<std::string>& s) { return fits(s); });
}

// Measured one by one, the weights of a layer may seem to take less than measured together: the
// selector adds up, and what it chose is tried on the graph.
std::set<std::string> ElasticTrainer::select_in_time(double step_seconds) {
  const TimingProfile& profile = profiles_[present_].profile;
  SelectorOptions options;
  options.resolution = elastic_.resolution;
  options.fits = [&](const ElasticSelection& s) { return fits(named(s.entries)); };
  double seconds = step_seconds - profile.fixed_seconds();
  std::set<std::string> selection;
  for (int tries = 0; tries < 4 && seconds >= 0; ++tries) {
    selection = named(select_tensors(problem_.entries, seconds, options).entries);
    const double excess = predicted_step(profile, graph_, selection) - step_seconds;
    if (selection.empty() || excess <= 0) break;
    seconds -= excess;
  }
  return selection;
}

void ElasticTrainer::choose(BatchSource& source, const Trainer::Callbacks& callbacks,
                            std::int64_t epoch) {
  const auto start = Clock::now();
  put_aside();
  const std::int64_t per_epoch = steps_of_epoch(source.size(), config_);
  follow_speed(epoch);
  use_profile_of(epoch);
  ElasticInterval interval;
  interval.epoch = epoch;
  interval.first_step = state_.step;
  interval.seconds_before = state_.seconds;
  if (is_time_to_probe(epoch, per_epoch)) {
    const auto probing = Clock::now();
    interval.importance = probe(source, callbacks, epoch);
    interval.probe_seconds = seconds_since(probing);
  } else {
    interval.importance = intervals_.back().importance;
  }
  if (!profiles_[present_].overhead)
    measure_overhead(source, callbacks, epoch, interval.probe_seconds);
  const ProfileInForce& present = profiles_[present_];
  const auto selecting = Clock::now();
  const std::int64_t steps = epochs_of_interval(epoch) * per_epoch;
  const double share = next_share(epoch, steps);
  const double allowed = allowed_step_seconds(present.profile, *present.overhead, share, steps);
  const double smallest = smallest_speedup_ratio(present.profile) * present.profile.step;
  interval.selection = select(interval.importance, std::max(allowed, smallest));
  interval.selector_seconds = seconds_since(selecting);
  begin(planned_lighter(interval.selection, interval.importance));
  release_idle_memory();  // that probing and planning took
  interval.planned_bytes = trainer_->planned_bytes() + waiting_bytes(interval.selection);
  const double network = predicted_step(present.profile, graph_, interval.selection);
  interval.step_seconds = network + present.overhead->read;
  interval.share = share - (allowed - network) / (present.profile.step + present.overhead->read);
  interval.choosing_seconds = seconds_since(start);
  intervals_.push_back(std::move(interval));
}

void ElasticTrainer::take_step_seconds() {
  const auto steps = static_cast<double>(trainer_->state().step - begun_at_);
  const auto passes = steps * static_cast<double>(config_.batch / micro_batch_of(config_));
  trained_.clear();
  if (passes > 0) trained_ = mean_seconds(trainer_->network().plan(), order_seconds_, passes);
}

void ElasticTrainer::measure_interval() {
  if (intervals_.empty()) return;
  ElasticInterval& interval = intervals_.back();
  const std::int64_t steps = state().step - interval.first_step;
  if (steps > 0)
    interval.measured_step_seconds =
        (state().seconds - interval.seconds_before) / static_cast<double>(steps);
}

// By the interval that has ended. Where no step of it was trained here, everything takes as much
// longer as a step.
void ElasticTrainer::follow_speed(std::int64_t epoch) {
  if (!elastic_.follow_speed || intervals_.empty() || profiles_.back().epoch >= epoch) return;
  const ElasticInterval& last = intervals_.back();
  const double passes = static_cast<double>(config_.batch / micro_batch_of(config_));
  const double drift = last.measured_step_seconds / (passes * last.step_seconds);
  if (last.measured_step_seconds <= 0 || std::abs(drift - 1) < kDrift) return;
  const TimingProfile& profile = profiles_.back().profile;
  TimingProfile now = trained_.empty() ? scaled(profile, drift)
                                       : updated_profile(profile, trained_, last.selection);
  std::optional<ElasticOverhead> overhead = profiles_.back().overhead;
  if (overhead) overhead = {overhead->read * drift, overhead->choose * drift};
  profiles_.push_back({epoch, std::move(now), 0, "drift", overhead});
}

void ElasticTrainer::use_profile_of(std::int64_t epoch) {
  const std::size_t before = present_;
  while (present_ + 1 < profiles_.size() && profiles_[present_ + 1].epoch <= epoch) ++present_;
  if (present_ != before) problem_ = elastic_problem(profiles_[present_].profile);
}

void ElasticTrainer::resume(std::vector<ElasticInterval> intervals, const TrainState& state) {
  state_ = state;
  intervals_ = std::move(intervals);
  // States that wait are those of what was selected once: they are as large as they were then.
  for (const ElasticInterval& interval : intervals_) {
    put_aside();
    begin(planned(interval.selection));
  }
  if (!intervals_.empty()) use_profile_of(intervals_.back().epoch);
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
    measure_interval();
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
