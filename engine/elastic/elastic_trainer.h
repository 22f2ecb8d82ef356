// Training that chooses anew, every few epochs, what to train (ElasticTrainer, §3 to §5).
//
// A run is cut into intervals of interval_epochs, fewer if the time for long steps ends within
// one (pace.h); the first is one epoch. At the beginning of each the importance of every tensor is
// probed, if that is a small part of what is trained and has room beside all weights and states,
// and those are selected that matter most among what a step has time for. Until the next interval
// only they learn. Each selection is a plan and a pool of its own; the pool before it is given back
// first. The optimizer state of a tensor that is not selected waits beside the pool.
//
// What a step takes is told by a profile, measured once, and corrected by what was seen: the
// seconds that the steps so far really took, against the profile's, scale the next choice, and what
// all intervals so far used, choosing included, is taken from the time that is left. So the whole
// training takes speedup_ratio of full training's time. The learning rate follows the time that is
// used: so the layers that learn in the long steps of the beginning have their schedule's end, too.
//
// If it saves time, an interval's steps begin behind the layers that do not learn in it
// (interval_maps.h). Batch norms there normalise by their statistics meanwhile; behind the cut one
// goes on normalising by its batch, also while its gamma and beta are not selected.
//
// Profile and seconds are inputs: the same ones, with the same seed, weights and source, give the
// same selections and bits, also when the run is stopped, saved and resumed. Not thread-safe.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/elastic/elastic_interval.h"
#include "engine/elastic/importance.h"
#include "engine/elastic/interval_maps.h"
#include "engine/elastic/pace.h"
#include "engine/elastic/tail_cut.h"
#include "engine/elastic/timing_profile.h"
#include "engine/train/trainer_relay.h"

namespace moil {

struct ElasticConfig {
  double speedup_ratio = 0.5;  // ρ: the time of the whole training, of full training's
  Pace pace = Pace::kFront;
  std::int64_t interval_epochs = 3;
  int resolution = 100'000;  // of the selector (T_q)
  ImportanceMetric metric = ImportanceMetric::kLoss;
  // What a selection's plan and the states that wait beside it may take; what needs more is passed
  // over. 0: no limit.
  std::size_t memory_limit_bytes = 0;
  // Choices are corrected by what intervals really took.
  bool follow_speed = true;
  IntervalMaps::Place maps = {};
};

// Throws kInvalidArgument for what no run can keep to: a ρ below the smallest, naming it.
void check(const ElasticConfig& elastic, const TimingProfile& profile);

class ElasticTrainer {
 public:
  // profile and probe: of the same model, layers and configuration. seconds: of the first intervals
  // of a run that this one is to repeat, in place of what these take. probe and kernels outlive it.
  // Throws what check() and Trainer throw.
  ElasticTrainer(const ModelDescription& model, const std::set<std::string>& trainable_layers,
                 const TrainerConfig& config, const ElasticConfig& elastic, ProfileInForce profile,
                 ImportanceProbe& probe, KernelSelector& kernels,
                 std::vector<IntervalSeconds> seconds = {});

  // Before run(). Takes the model's weights out of `weights`.
  void start(WeightMap& weights) { relay_.start(weights); }
  // After start(), to go on if a run was stopped: its intervals, and its state. What
  // persistent() names then is to be restored.
  void resume(std::vector<ElasticInterval> intervals, const TrainState& state);

  // As Trainer::run(). The source has as many samples as the probe, or more.
  bool run(BatchSource& source, const Trainer::Callbacks& callbacks);

  const TrainState& state() const { return relay_.state(); }
  const std::vector<ElasticInterval>& intervals() const { return intervals_; }
  const ProfileInForce& profile() const { return profile_; }
  // The weights and what else is to be kept, as they are now.
  TrainerRelay& relay() { return relay_; }
  const TrainerRelay& relay() const { return relay_; }

 private:
  // False if making its maps was stopped: the interval has begun all the same.
  bool choose(BatchSource& source, const Trainer::Callbacks& callbacks, std::int64_t epoch);
  void take_probe(ElasticInterval& interval, BatchSource& source,
                  const Trainer::Callbacks& callbacks);
  bool is_time_to_probe(const ElasticInterval& next, std::int64_t per_epoch);
  std::unique_ptr<Trainer> select(ElasticInterval& interval, const TailTerms& tail, double share);
  PaceSoFar pace_so_far() const;
  // What an interval of its epochs may keep, and what a run cannot do without then.
  using IntervalTerms = std::pair<TailTerms, PaceLeast>;
  IntervalTerms terms_of(const ElasticInterval& interval,
                         const Trainer::Callbacks& callbacks) const;
  IntervalTerms give_epochs(ElasticInterval& interval, const Trainer::Callbacks& callbacks) const;
  bool fits(const std::set<std::string>& selection) const;
  std::size_t beside_bytes(const std::set<std::string>& selection, const TailCut* cut) const;
  std::unique_ptr<Trainer> planned(const std::set<std::string>& selection,
                                   const TailCut* cut) const;
  TailTerms tail_terms(const Trainer::Callbacks& callbacks, const ElasticInterval& interval) const;
  std::vector<std::int64_t> samples_of(const Trainer::Callbacks& callbacks,
                                       const ElasticInterval& interval) const;
  bool fill_maps(BatchSource& source, const Trainer::Callbacks& callbacks);
  void measure_interval();
  void end_interval();
  double speed() const;           // the seconds of all steps so far, of the profile's
  double passes_of_step() const;  // through the network

  const ModelDescription model_;
  const std::set<std::string> layers_;
  const TrainerConfig config_;
  const ElasticConfig elastic_;
  const ProfileInForce profile_;
  const std::vector<IntervalSeconds> known_seconds_;
  ImportanceProbe& probe_;
  KernelSelector& kernels_;
  const Graph graph_;  // of training, whatever is selected
  TrainerRelay relay_;
  IntervalMaps maps_;
  std::vector<ElasticInterval> intervals_;
};

}  // namespace moil
