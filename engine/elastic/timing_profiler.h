// Measures a timing profile with the engine's own steps (ElasticTrainer, §4.1).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/elastic/measured_training.h"
#include "engine/elastic/timing_profile.h"

namespace moil {

// In as many rounds as one likes, apart in time: what is measured in all of them counts. Not
// thread-safe.
class TimingProfiler {
 public:
  // trainable_layers: null is all. What it refers to must outlive it. Throws what Trainer throws.
  TimingProfiler(const ModelDescription& model, const std::set<std::string>* trainable_layers,
                 const TrainerConfig& config, const WeightMap& weights, KernelSelector& kernels);
  TimingProfiler(const TimingProfiler&) = delete;
  TimingProfiler& operator=(const TimingProfiler&) = delete;

  // So many steps of each training, on copies of the weights and batches of zeros. Needs the memory
  // of training all of trainable_layers, and allocates it meanwhile. Throws what Network throws.
  void measure_round(int runs);

  // Medians of all steps so far; after measure_round().
  TimingProfile profile() const;

  // What each turn of the backward passes that were measured as a whole took, of full ones.
  std::vector<std::vector<double>> backward_shares() const;

 private:
  // A training of some weights, measured in turns with that of all: a machine's speed changes from
  // one second to the next.
  struct Compared {
    MeasuredTraining training;
    std::vector<double> forward = {}, backward = {};  // of each turn, as parts of the full one's
  };

  MeasuredTraining::Seconds measure(MeasuredTraining& training, int runs);
  void measure_in_turns(const std::vector<Compared*>& trainings, int runs);
  enum class Which { kAll, kUnmeasured };
  std::vector<Compared*> trainings(Which which);
  Compared& training_of(const std::set<std::string>& trained);
  int nodes() const { return static_cast<int>(graph_.nodes.size()); }
  int first() const;
  int last() const;
  std::set<std::string> with_first(std::set<std::string> names) const;
  std::set<std::string> trained_alone(std::size_t w) const;
  double forward_seconds(const Compared& compared) const;
  double seconds(const Compared& compared, int node, StepKind kind) const;
  double besides() const;
  TimingProfile parts_profile() const;
  TimingProfile profile_of_all() const;
  void take_derivatives(TimingProfile& profile) const;
  void take_alone(std::size_t w, TimingProfile& profile) const;
  void take_lone(TimingProfile& profile) const;

  const TrainerConfig& config_;
  const WeightMap& weights_;
  KernelSelector& kernels_;
  const TrainingPlanInput input_;
  const Graph graph_;
  std::vector<std::vector<std::string>> weights_of_;     // by node
  MeasuredTraining all_;                                 // of everything
  std::map<std::set<std::string>, Compared> trainings_;  // the others, by what learns
  const Compared* hardly_ = nullptr;      // the first layer alone: the error passes everything
  const Compared* last_alone_ = nullptr;  // the last layer
  std::vector<const Compared*> alone_;    // each layer's weight number so much
  // After a round:
  std::vector<const Compared*> samples_;         // without training everything
  std::map<std::string, const Compared*> lone_;  // by the large weight that learns alone
};

// Of a profile that is kept. A single run's part of a step is off by some percent; steps that take
// a second come to `kProfilingRuns` of them only.
inline constexpr int kProfilingRuns = 6;
inline constexpr double kProfilingSeconds = 15;

// `runs` steps each way, in up to three rounds, and further rounds, a dozen at most, until so many
// seconds have passed. Throws what TimingProfiler throws.
[[nodiscard]] TimingProfile measure_timing(const ModelDescription& model,
                                           const std::set<std::string>* trainable_layers,
                                           const TrainerConfig& config, const WeightMap& weights,
                                           KernelSelector& kernels, int runs = kProfilingRuns,
                                           double seconds = 0);
// The same, by a profiler that may go on.
void measure_timing(TimingProfiler& profiler, int runs, double seconds);

}  // namespace moil
