// Training that chooses anew, every few epochs, what to train (ElasticTrainer, §3 to §5).
//
// An interval has interval_epochs, fewer where the time for long steps ends within it (pace.h). At
// the beginning of each the importance of every tensor is probed, where that takes less
// than half a hundredth of the time that is trained, and those are selected that matter most among
// what a step of speedup_ratio · (a step of full training) has time for, choosing included
// (elastic_overhead.h), on the mean of all intervals (pace.h). Until the next interval only they
// learn: other gradients are not computed, and the inputs that they would need are not kept. Each
// selection is a plan and a pool of its own, smaller than full training's; the pool before it is
// given back first. The optimizer state of a tensor that is not selected waits beside the pool
// until it comes back. Where both together would come near full training's plan, layers nearest the
// input are left out (selection_memory.h).
//
// Where it saves time, an interval's steps begin behind the layers that do not learn in it: what
// these make of a sample is computed once and kept on disk (interval_maps.h). Batch norms
// there normalise by their statistics meanwhile; behind the cut one goes on normalising by its
// batch and following its statistics, also while its gamma and beta are not selected.
//
// The learning rate follows the time that is used: so the layers that learn in the long steps of
// the beginning have their schedule's end, too.
//
// The profiles are an input: the same profiles, seed, weights and source give the same selections
// and the same bits, also when the run is stopped, saved and resumed. Where the machine's speed
// drifts, what the last interval's steps took makes another, which is such an input from then on: a
// run that is given all of another's replays it. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/elastic/elastic_interval.h"
#include "engine/elastic/importance.h"
#include "engine/elastic/interval_maps.h"
#include "engine/elastic/pace.h"
#include "engine/elastic/pace_least.h"
#include "engine/elastic/profile_update.h"
#include "engine/elastic/profiles_in_force.h"
#include "engine/elastic/tail_cut.h"
#include "engine/elastic/timing_profile.h"
#include "engine/train/trainer.h"

namespace moil {

struct ElasticConfig {
  double speedup_ratio = 0.5;  // ρ: a step's mean time, of a full step's
  Pace pace = Pace::kFront;
  std::int64_t interval_epochs = 3;
  int resolution = 100'000;  // of the selector (T_q)
  ImportanceMetric metric = ImportanceMetric::kLoss;
  // Of a selection's plan and the states that wait beside it; what needs more is passed over. 0: no
  // limit.
  std::size_t memory_limit_bytes = 0;
  // Where steps take longer or shorter than predicted, the profile is brought up to date.
  bool follow_speed = false;
  IntervalMaps::Place maps = {};
};

// Throws kInvalidArgument for what no run can keep to: a ρ below the smallest, naming it.
void check(const ElasticConfig& elastic, const TimingProfile& profile);

class ElasticTrainer {
 public:
  // profiles: by epoch, the first from 0 on, and probe: of the same model, layers and
  // configuration. probe and kernels outlive it. Throws what check() and Trainer throw.
  ElasticTrainer(const ModelDescription& model, const std::set<std::string>& trainable_layers,
                 const TrainerConfig& config, const ElasticConfig& elastic,
                 std::vector<ProfileInForce> profiles, ImportanceProbe& probe,
                 KernelSelector& kernels);
  ~ElasticTrainer();

  // Before run(). Takes the model's weights out of `weights`.
  void start(WeightMap& weights);
  // After start(), to go on where a run was stopped: its intervals, and its state. What
  // persistent() names then is to be restored.
  void resume(std::vector<ElasticInterval> intervals, const TrainState& state);

  // As Trainer::run(). The source has as many samples as the probe, or more.
  bool run(BatchSource& source, const Trainer::Callbacks& callbacks);

  const TrainState& state() const { return trainer_ ? trainer_->state() : state_; }
  const std::vector<ElasticInterval>& intervals() const { return intervals_; }
  const std::vector<ProfileInForce>& profiles() const { return profiles_.all(); }
  // Of the trainer at work, and the states that wait; none before the first interval has begun.
  std::vector<PersistentTensor> persistent();
  // After persistent() was written to.
  void weights_changed();
  // The weights as they are now, into `weights`.
  void save(WeightMap& weights) const;
  // One of them. kNotFound.
  [[nodiscard]] NamedTensor weight(const std::string& name) const;
  // Training is over: no memory is kept but that of the weights.
  void end();
  // Nor theirs. What intervals(), profiles() and state() tell stays.
  void release();

 private:
  // False where making its maps was stopped: the interval has begun all the same.
  bool choose(BatchSource& source, const Trainer::Callbacks& callbacks, std::int64_t epoch);
  void take_probe(ElasticInterval& interval, BatchSource& source,
                  const Trainer::Callbacks& callbacks);
  void measure_overhead(BatchSource& source, const Trainer::Callbacks& callbacks,
                        std::int64_t epoch, double probe_seconds);
  bool is_time_to_probe(double full_epochs, std::int64_t per_epoch) const;
  std::unique_ptr<Trainer> select(ElasticInterval& interval, const TailTerms& tail, double share,
                                  std::int64_t per_epoch);
  PaceSoFar pace_so_far() const;
  // What an interval of its epochs may keep, and what a run cannot do without then.
  struct IntervalTerms {
    TailTerms tail;
    PaceLeast least;
  };
  IntervalTerms terms_of(const ElasticInterval& interval, const Trainer::Callbacks& callbacks,
                         std::int64_t per_epoch) const;
  IntervalTerms give_epochs(ElasticInterval& interval, const Trainer::Callbacks& callbacks,
                            std::int64_t per_epoch) const;
  bool fits(const std::set<std::string>& selection);
  TrainerConfig config_of(const std::set<std::string>& selection) const;
  std::size_t beside_bytes(const std::set<std::string>& selection, const TailCut* cut) const;
  std::unique_ptr<Trainer> planned(const std::set<std::string>& selection,
                                   const TailCut* cut) const;
  std::unique_ptr<Trainer> planned_lighter(std::set<std::string>& selection,
                                           const std::map<std::string, double>& importance,
                                           const TailTerms& tail);
  TailTerms tail_terms(const Trainer::Callbacks& callbacks, const ElasticInterval& interval) const;
  std::vector<std::int64_t> samples_of(const Trainer::Callbacks& callbacks,
                                       const ElasticInterval& interval) const;
  std::size_t full_planned_bytes();  // of training everything
  std::size_t bytes_for_maps();
  bool fill_maps(BatchSource& source, const Trainer::Callbacks& callbacks);
  void put_aside();
  void begin(std::unique_ptr<Trainer> trainer);
  void measure_interval();
  double passes_of_step() const;  // through the network
  void take_step_seconds();

  const ModelDescription model_;
  const std::set<std::string> layers_;
  const TrainerConfig config_;
  const ElasticConfig elastic_;
  ProfilesInForce profiles_;
  ImportanceProbe& probe_;
  KernelSelector& kernels_;
  const Graph graph_;  // of training, whatever is selected
  WeightMap weights_;  // those that no trainer holds
  IntervalMaps maps_;
  std::map<std::string, std::vector<float>> waiting_;  // states of what is not selected
  std::size_t full_planned_bytes_ = 0;                 // once asked for
  std::unique_ptr<Trainer> trainer_;
  TrainState state_;                   // while there is no trainer
  std::int64_t begun_at_ = 0;          // the step at which the trainer began
  std::vector<double> order_seconds_;  // of its steps since, added up by execution order
  StepSeconds trained_;                // of the trainer before
  std::vector<ElasticInterval> intervals_;
};

}  // namespace moil
