// What the steps of a training take, measured with the engine's own (ElasticTrainer, §4.1).
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/train/idle_step.h"
#include "engine/train/trainer.h"

namespace moil {

// Measurements of `runs` steps come in so many rounds, apart in time: a disturbance spoils one.
[[nodiscard]] int measuring_rounds(int runs);
// Of this round, from 0, as many as add up to `runs`.
[[nodiscard]] int runs_of_round(int runs, int round);

// Training of some weights, in forward passes of that training (where less learns, they take less,
// too). A machine's speed changes from one second to the next; each run is told by its own forward
// pass, and the median counts. Not thread-safe.
class MeasuredTraining {
 public:
  explicit MeasuredTraining(std::set<std::string> trained) : trained_(std::move(trained)) {}

  // Of a step; backward is everything after the forward pass.
  struct Seconds {
    double forward = 0, backward = 0;
  };

  // Some runs more, on copies of the weights and batches of zeros. Has the memory of this training
  // meanwhile. Returns their medians. Throws what Network throws.
  Seconds measure(TrainingPlanInput input, const TrainerConfig& config, const WeightMap& weights,
                  KernelSelector& kernels, int runs);

  const std::set<std::string>& trained() const { return trained_; }

  // After measure(). 0 for what is not done.
  double passes(int node, StepKind kind) const;
  double apply_passes(const std::string& weight) const;  // throws for what is not trained
  double step_passes() const;
  double besides_passes() const;  // of a step, outside of its layers
  double forward_seconds() const;

 private:
  class TimedUpdates;
  static double run_step(Network& network, TimedUpdates& updates);
  Seconds measure_step(Network& network, TimedUpdates& updates);

  const std::set<std::string> trained_;
  std::vector<double> forward_, whole_, besides_;  // of each run
  std::map<std::pair<int, StepKind>, std::vector<double>> steps_;
  std::map<std::string, std::vector<double>> updates_;
};

}  // namespace moil
