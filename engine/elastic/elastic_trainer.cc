#include "engine/elastic/elastic_trainer.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/error.h"
#include "base/process_memory.h"
#include "base/seconds.h"
#include "engine/elastic/interval_selection.h"
#include "engine/model/preparation.h"
#include "engine/model/realizers/realizers.h"

namespace moil {
namespace {

// What probing may take of the passes that are trained.
constexpr double kMostProbing = 0.005;
// A profile is not off by more: what seems so was a disturbance, or steps of next to nothing.
constexpr double kMostCorrection = 1.5;

using Clock = std::chrono::steady_clock;

}  // namespace

void check(const ElasticConfig& elastic, const TimingProfile& profile) {
  const auto fail = [](const std::string& what) {
    throw Error(ErrorCode::kInvalidArgument, "elastic training: " + what);
  };
  if (elastic.interval_epochs < 1) fail("an interval is at least an epoch");
  // All of a step is enough for whatever there is to train, also for a single layer.
  const double smallest = std::min(1.0, smallest_speedup_ratio(profile));
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
                               ProfileInForce profile, ImportanceProbe& probe,
                               KernelSelector& kernels, std::vector<IntervalSeconds> seconds)
    : model_(complete_model(realize_pruning(model))),
      layers_(trainable_layers),
      config_(config),
      elastic_(elastic),
      profile_(std::move(profile)),
      known_seconds_(std::move(seconds)),
      probe_(probe),
      kernels_(kernels),
      graph_(build_graph(training_plan_input(model_, &layers_, config_).model,
                         micro_batch_of(config_))),
      relay_(model_, layers_, config_, kernels_),
      maps_(model_, graph_, elastic_.maps) {
  check(elastic_, profile_.profile);
}

void ElasticTrainer::take_probe(ElasticInterval& interval, BatchSource& source,
                                const Trainer::Callbacks& callbacks) {
  const auto probing = Clock::now();
  // An epoch's order is shuffled: its beginning is a uniform sample.
  std::vector<std::int64_t> indices = callbacks.order(interval.epoch);
  indices.resize(std::min(indices.size(), static_cast<std::size_t>(probe_.samples())));
  const std::int64_t per_epoch = steps_of_epoch(source.size(), config_),
                     total = per_epoch * config_.epochs;
  const double begun = intervals_.empty() ? 0 : intervals_.back().schedule_end;
  const double rate =
      learning_rate(config_.schedule, config_.optimizer.learning_rate,
                    scheduled_step({begun, begun, 0, 1}, 0, total), total, per_epoch);
  interval.importance = probe_.measure(relay_.weights(), rate, source, indices, elastic_.metric);
  interval.probe_seconds = seconds_since(probing);
}

// A probe goes forward and back twice. By counting, so that the same run decides the same.
bool ElasticTrainer::is_time_to_probe(const ElasticInterval& next, std::int64_t per_epoch) {
  if (intervals_.empty()) return true;
  if (probe_.planned_bytes() > relay_.bytes_beside_all(weight_bytes(graph_))) return false;
  const auto probed = std::ranges::count_if(
      intervals_, [](const ElasticInterval& i) { return i.probe_seconds > 0; });
  const double passes = 2.0 * static_cast<double>((probed + 1) * probe_.samples()) /
                        static_cast<double>(micro_batch_of(config_));
  const double epochs = elastic_.speedup_ratio * static_cast<double>(next.epoch + next.epochs);
  return passes <= kMostProbing * epochs * static_cast<double>(per_epoch) * passes_of_step();
}

bool ElasticTrainer::fits(const std::set<std::string>& selection) const {
  if (elastic_.memory_limit_bytes == 0) return true;
  return relay_.planned(selection)->planned_bytes() + relay_.waiting_bytes(selection) <=
         elastic_.memory_limit_bytes;
}

std::unique_ptr<Trainer> ElasticTrainer::planned(const std::set<std::string>& selection,
                                                 const TailCut* cut) const {
  if (!cut) return relay_.planned(selection);
  const ModelDescription tail = realize_slice(model_, cut->cut.value, cut->cut.dims).head;
  return relay_.planned(selection, &tail);
}

// States that wait, and the weights that no trainer holds.
std::size_t ElasticTrainer::beside_bytes(const std::set<std::string>& selection,
                                         const TailCut* cut) const {
  std::size_t bytes = relay_.waiting_bytes(selection);
  if (!cut) return bytes;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (cut->before[i]) bytes += weight_bytes(graph_.nodes[i]);
  }
  return bytes;
}

PaceSoFar ElasticTrainer::pace_so_far() const {
  return {end_epoch(intervals_), used_epochs(intervals_), config_.epochs};
}

ElasticTrainer::IntervalTerms ElasticTrainer::terms_of(const ElasticInterval& interval,
                                                       const Trainer::Callbacks& callbacks) const {
  TailTerms tail = tail_terms(callbacks, interval);
  PaceLeast least = pace_least(profile_.profile, graph_, tail, interval.epochs);
  least.share *= speed();
  least.once *= speed();
  return {std::move(tail), least};
}

ElasticTrainer::IntervalTerms ElasticTrainer::give_epochs(
    ElasticInterval& interval, const Trainer::Callbacks& callbacks) const {
  // What a first epoch takes corrects the profile before much is spent by it.
  const bool is_tried = elastic_.follow_speed && intervals_.empty();
  const std::int64_t usual = is_tried ? 1 : elastic_.interval_epochs;
  interval.epochs = std::min(usual, config_.epochs - interval.epoch);
  IntervalTerms terms = terms_of(interval, callbacks);
  const std::int64_t epochs =
      epochs_of_interval(elastic_.pace, elastic_.speedup_ratio, terms.second, pace_so_far(), usual);
  if (epochs == interval.epochs) return terms;
  interval.epochs = epochs;
  return terms_of(interval, callbacks);
}

std::vector<std::int64_t> ElasticTrainer::samples_of(const Trainer::Callbacks& callbacks,
                                                     const ElasticInterval& interval) const {
  std::vector<std::int64_t> samples;
  for (std::int64_t e = 0; e < interval.epochs; ++e) {
    const std::vector<std::int64_t> order = callbacks.order(interval.epoch + e);
    samples.insert(samples.end(), order.begin(), order.end());
  }
  return samples;
}

// What is kept is told by the intervals, not by what is on disk: a run that is resumed chooses as
// one that was not stopped.
TailTerms ElasticTrainer::tail_terms(const Trainer::Callbacks& callbacks,
                                     const ElasticInterval& interval) const {
  if (elastic_.maps.folder.empty()) return {};
  const std::string kept = intervals_.empty() ? "" : intervals_.back().cut;
  std::vector<std::int64_t> kept_samples;
  for (auto i = intervals_.rbegin(); !kept.empty() && i != intervals_.rend() && i->cut == kept;
       ++i) {
    const std::vector<std::int64_t> some = samples_of(callbacks, *i);
    kept_samples.insert(kept_samples.end(), some.begin(), some.end());
  }
  return maps_.terms(samples_of(callbacks, interval), kept, std::move(kept_samples));
}

// Fills those of the present interval if it begins behind a cut; false if that was stopped.
bool ElasticTrainer::fill_maps(BatchSource& source, const Trainer::Callbacks& callbacks) {
  ElasticInterval& interval = intervals_.back();
  const TailCut* cut = maps_.cut_named(interval.cut);
  const auto start = Clock::now();
  std::vector<std::int64_t> samples;
  if (cut) samples = samples_of(callbacks, interval);
  const IntervalMaps::Filled filled = maps_.fill(
      cut, source, samples,
      {relay_.weights(),
       {micro_batch_of(config_), cut ? relay_.bytes_beside_all(weight_bytes(graph_)) : 0},
       kernels_,
       callbacks.may_go_on});
  if (filled.computed) interval.caching_seconds += seconds_since(start);
  return filled.done;
}

bool ElasticTrainer::choose(BatchSource& source, const Trainer::Callbacks& callbacks,
                            std::int64_t epoch) {
  const auto start = Clock::now();
  end_interval();
  relay_.put_aside();
  const std::int64_t per_epoch = steps_of_epoch(source.size(), config_);
  ElasticInterval interval;
  interval.epoch = epoch;
  interval.first_step = state().step;
  interval.seconds_before = state().seconds;
  const auto [tail, least] = give_epochs(interval, callbacks);
  const double share = share_of_interval(elastic_.pace, elastic_.speedup_ratio, least,
                                         pace_so_far(), interval.epochs);
  if (is_time_to_probe(interval, per_epoch))
    take_probe(interval, source, callbacks);
  else
    interval.importance = intervals_.back().importance;
  std::unique_ptr<Trainer> trainer = select(interval, tail, share);
  interval.schedule_end =
      schedule_end(intervals_, interval, config_.epochs, elastic_.speedup_ratio);
  interval.choosing_seconds = seconds_since(start);
  intervals_.push_back(std::move(interval));
  const bool goes_on = fill_maps(source, callbacks);  // before the network has its memory
  const auto beginning = Clock::now();
  relay_.begin(std::move(trainer));
  release_idle_memory();  // that probing, planning and maps took
  intervals_.back().choosing_seconds += seconds_since(beginning);
  return goes_on;
}

// What the interval trains, and how; the trainer is planned.
std::unique_ptr<Trainer> ElasticTrainer::select(ElasticInterval& interval, const TailTerms& tail,
                                                double share) {
  const auto start = Clock::now();
  const TimingProfile& profile = profile_.profile;
  const double allowed = share * profile.step / speed();
  interval.selection =
      select_for_interval({.profile = profile,
                           .tail = tail,
                           .importance = interval.importance,
                           .step_seconds = std::max(allowed, smallest_step(profile, graph_, tail)),
                           .resolution = elastic_.resolution,
                           .fits = [&](const std::set<std::string>& s) { return fits(s); }});
  interval.selector_seconds = seconds_since(start);
  const TailSaving saving = best_cut(tail, profile, interval.selection);
  if (saving.cut) interval.cut = saving.cut->cut.value;
  std::unique_ptr<Trainer> trainer = planned(interval.selection, saving.cut);
  interval.planned_bytes = trainer->planned_bytes() + beside_bytes(interval.selection, saving.cut);
  const double whole = predicted_step(profile, graph_, interval.selection);
  interval.profile_seconds = passes_of_step() * (whole - saving.step_seconds);
  interval.step_seconds = speed() * interval.profile_seconds;
  interval.share = speed() * (whole - saving.seconds) / profile.step;
  return trainer;
}

double ElasticTrainer::passes_of_step() const {
  return static_cast<double>(config_.batch / micro_batch_of(config_));
}

double ElasticTrainer::speed() const {
  if (!elastic_.follow_speed) return 1;
  double took = 0, by_profile = 0;
  for (const ElasticInterval& interval : intervals_) {
    if (interval.measured.step <= 0) continue;
    took += interval.measured.step * static_cast<double>(interval.epochs);
    by_profile += interval.profile_seconds * static_cast<double>(interval.epochs);
  }
  if (by_profile <= 0) return 1;
  return std::clamp(took / by_profile, 1 / kMostCorrection, kMostCorrection);
}

void ElasticTrainer::measure_interval() {
  ElasticInterval& interval = intervals_.back();
  const std::int64_t steps = state().step - interval.first_step;
  if (steps <= 0) return;
  const double seconds = state().seconds - interval.seconds_before;
  interval.measured = {seconds / static_cast<double>(steps),
                       seconds + interval.choosing_seconds + interval.caching_seconds};
}

// From here on what it took is what counts.
void ElasticTrainer::end_interval() {
  if (intervals_.empty()) return;
  ElasticInterval& interval = intervals_.back();
  measure_interval();
  if (intervals_.size() <= known_seconds_.size())
    interval.measured = known_seconds_[intervals_.size() - 1];
  const std::int64_t steps = state().step - interval.first_step;
  if (!elastic_.follow_speed || steps <= 0) return;
  const double full = passes_of_step() * profile_.profile.step * static_cast<double>(steps);
  interval.share = interval.measured.whole / full;
}

void ElasticTrainer::resume(std::vector<ElasticInterval> intervals, const TrainState& state) {
  relay_.set_state(state);
  // States that wait are those of what was selected once: they are as large as they were then.
  for (ElasticInterval& interval : intervals) {
    relay_.put_aside();
    auto trainer = planned(interval.selection, maps_.cut_named(interval.cut));
    intervals_.push_back(std::move(interval));
    relay_.begin(std::move(trainer));
  }
}

bool ElasticTrainer::run(BatchSource& source, const Trainer::Callbacks& callbacks) {
  const std::int64_t per_epoch = steps_of_epoch(source.size(), config_);
  const std::int64_t total = per_epoch * config_.epochs;
  while (state().step < total) {
    const std::int64_t epoch = state().step / per_epoch;
    const bool begins = epoch >= end_epoch(intervals_);
    if (!(begins ? choose(source, callbacks, epoch) : fill_maps(source, callbacks))) break;
    const std::int64_t end = end_epoch(intervals_) * per_epoch;
    bool goes_on = true;
    Trainer::Callbacks until = callbacks;
    until.on_step = [&](std::int64_t step, std::int64_t all, double loss) {
      if (callbacks.on_step) goes_on = callbacks.on_step(step, all, loss);
      return goes_on && step < end;
    };
    relay_.trainer()->follow(span_of_last(intervals_, per_epoch));
    (void)relay_.trainer()->run(maps_.source(source), until);
    measure_interval();
    if (!goes_on) break;
  }
  return state().step == total;
}

}  // namespace moil
