// One trainer after another on the same model's weights, each of other parts of it, with a plan and
// a pool of its own; the pool before it is given back first. Between two of them the weights, the
// state of the run and the optimizer states of what does not learn wait beside the pool.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/train/trainer.h"

namespace moil {

class TrainerRelay {
 public:
  // What a trainer is planned with but for its selection. kernels outlives it.
  TrainerRelay(ModelDescription model, std::set<std::string> trainable_layers,
               const TrainerConfig& config, KernelSelector& kernels);

  // Takes the model's weights out of `weights`.
  void start(WeightMap& weights);
  // That trains `selection` ("LAYER.WEIGHT"; empty: all) of the model, or of `part` of it if
  // given. Nothing is allocated.
  [[nodiscard]] std::unique_ptr<Trainer> planned(const std::set<std::string>& selection,
                                                 const ModelDescription* part = nullptr) const;
  // The trainer at work is gone; what must outlive it stays.
  void put_aside();
  // The next one is at work. Expects put_aside() before.
  void begin(std::unique_ptr<Trainer> trainer);

  const TrainState& state() const { return trainer_ ? trainer_->state() : state_; }
  void set_state(const TrainState& state) { state_ = state; }
  Trainer* trainer() { return trainer_.get(); }  // at work, or null
  WeightMap& weights() { return weights_; }      // those that no trainer holds
  // What the states that would wait beside a trainer of that selection take.
  [[nodiscard]] std::size_t waiting_bytes(const std::set<std::string>& selection) const;
  // What a trainer of everything has, and what is left of that beside all weights and states.
  std::size_t full_planned_bytes();
  std::size_t bytes_beside_all(std::size_t weight_bytes);

  // What the trainer at work has, and what waits; none if no trainer is at work.
  std::vector<PersistentTensor> persistent();
  // Before they are kept: as Trainer::check_weights().
  void check_weights();
  // After persistent() was written to.
  void weights_changed();
  // The weights as they are now, into `weights`.
  void save(WeightMap& weights) const;
  // One of them. kNotFound.
  [[nodiscard]] NamedTensor weight(const std::string& name) const;
  // Training is over: no memory is kept but that of the weights.
  void end();
  // Nor theirs. What state() tells stays.
  void release();

 private:
  const ModelDescription model_;
  const std::set<std::string> layers_;
  const TrainerConfig config_;
  KernelSelector& kernels_;
  WeightMap weights_;
  std::map<std::string, std::vector<float>> waiting_;  // states of what is not selected
  std::size_t full_planned_bytes_ = 0;                 // once asked for
  std::unique_ptr<Trainer> trainer_;
  TrainState state_;  // while there is no trainer
};

}  // namespace moil
