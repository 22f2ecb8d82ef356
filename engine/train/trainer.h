// Training: a planned network, an optimizer and a schedule, stepped through epochs of a source.
//
// Same model, weights, source, configuration, thread count and kernel choices: the same bits, also
// when the run was stopped, saved and resumed any number of times. What a step needs beyond the
// persistent tensors is a function of (seed, step) alone. Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/model/ending.h"
#include "engine/run/network.h"
#include "engine/train/batch_source.h"
#include "engine/train/optimizer.h"
#include "engine/train/schedule.h"

namespace moil {

struct TrainerConfig {
  LossDescription loss;  // without a type: fitting_loss() of the model
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  // Layers that learn at another rate than the schedule's: its factor, by layer.
  std::map<std::string, double> rate_factors;
  // The weights that learn, "LAYER.WEIGHT", of the trainable layers'; empty: all of them.
  std::set<std::string> selection;
  double clip_norm = 0;  // 0: gradients are not clipped
  std::int64_t batch = 32;
  // Samples that are in memory at once: gradients of batch / micro_batch of them are accumulated
  // for a step, which is the same to rounding. Divides the batch; 0: the whole batch.
  std::int64_t micro_batch = 0;
  std::int64_t epochs = 1;
  std::uint64_t seed = 1;
  SwapOptions swap;
  std::filesystem::path swap_folder;
  std::set<std::string> again = {};     // PlanOptions::again
  bool narrow_saved = false;            // PlanOptions::narrow_saved
  std::size_t memory_budget_bytes = 0;  // PlanOptions::memory_budget_bytes
  // PlanOptions::processors and their steps.
  std::vector<std::shared_ptr<Processor>> processors = {};
  Assignment assignment = {};
};

// A budget for the fastest kernels, whatever memory they take.
inline constexpr std::size_t kNoMemoryBudget = std::numeric_limits<std::size_t>::max() / 4;

// Samples that a trainer with this configuration has in memory at once.
std::int64_t micro_batch_of(const TrainerConfig& config);
// Steps of an epoch of so many samples. kInvalidArgument if they are fewer than a batch.
std::int64_t steps_of_epoch(std::int64_t samples, const TrainerConfig& config);
// What config.rate_factors make of the graph's weights: factors by "LAYER.WEIGHT", if not 1.
using RateFactors = std::map<std::string, double, std::less<>>;
[[nodiscard]] RateFactors rate_factors_of(const Graph& graph, const TrainerConfig& config);

// The network that a trainer makes of a model: for those who plan before they train.
struct TrainingPlanInput {
  ModelDescription model;  // prepared, with its loss
  NetworkOptions options;
};
[[nodiscard]] TrainingPlanInput training_plan_input(const ModelDescription& model,
                                                    const std::set<std::string>* trainable_layers,
                                                    const TrainerConfig& config);
// Bytes of the two batches being read ahead.
[[nodiscard]] std::size_t prefetch_bytes(const Graph& graph);

// Where a run stands; with the network's persistent tensors, all that a resumed run needs.
struct TrainState {
  std::int64_t step = 0;  // steps done
  double loss_sum = 0;    // of the present epoch's steps
  std::int64_t loss_count = 0;
  double seconds = 0;      // trained so far, all runs together
  double cpu_seconds = 0;  // of all threads meanwhile, reading ahead included
  // Steps that each weight has taken, by "LAYER.WEIGHT": one that learns later than others, or not
  // all the time, has taken fewer.
  std::map<std::string, std::int64_t, std::less<>> updates;
};

struct EpochSummary {
  std::int64_t epoch = 0;  // from 1
  double loss = 0;         // mean over its steps
  double seconds = 0;      // trained so far
};

class Prefetcher;

class Trainer : private WeightUpdater {
 public:
  // Plans; allocates nothing. trainable_layers null: all layers that own weights. kInvalidArgument
  // for micro-batches of a model in which a sample depends on its batch.
  Trainer(const ModelDescription& model, const std::set<std::string>* trainable_layers,
          const TrainerConfig& config, KernelSelector& kernels);
  ~Trainer() override;

  const TrainerConfig& config() const { return config_; }
  Network& network() { return network_; }
  const Network& network() const { return network_; }
  // Bytes that training uses at most: the pool and the prefetch buffers.
  std::size_t planned_bytes() const;

  // Before run(): memory and weights.
  void allocate(const WeightMap& weights);

  TrainState& state() { return state_; }

  // From now on the steps go through this part of the schedule; it is of the run, not of the state.
  void follow(const ScheduleSpan& span) { span_ = span; }

  struct Callbacks {
    // The indices of an epoch (from 0), as many as the source has samples, in any form that the
    // source knows (batch_source.h).
    std::function<std::vector<std::int64_t>(std::int64_t epoch)> order;
    // After every step; false stops the run between steps.
    std::function<bool(std::int64_t step, std::int64_t total, double loss)> on_step;
    std::function<void(const EpochSummary&)> on_epoch;
    // Asked in long work between steps, if there is any; false stops the run. Empty: yes.
    std::function<bool()> may_go_on;
  };
  // Trains from state() to the end; false if on_step stopped it. Only full batches are trained:
  // what an epoch's order leaves over at its end is left out, another rest each epoch. A source
  // smaller than a batch is kInvalidArgument. Throws kFailedPrecondition, with the step, if
  // the loss or a weight is not finite: training is over then. Weights that another processor
  // updates are looked at when the run ends or stops.
  bool run(BatchSource& source, const Callbacks& callbacks);
  // Between steps, before weights are kept: throws the same for what was not looked at so far.
  void check_weights();

 private:
  void gradient_ready(const WeightUpdate& update) override;
  void all_gradients_ready() override;
  void apply(const WeightUpdate& update) override;
  Trainer(const TrainingPlanInput& input, const TrainerConfig& config, KernelSelector& kernels);
  void check_micro_batches() const;
  double rate_of(std::string_view weight) const;
  std::int64_t count_update(std::string_view weight);
  void check_finite(double loss) const;
  // One step of all micro-batches: as one is taken, the next is asked for.
  double step(Prefetcher& prefetcher,
              const std::function<void(std::int64_t micro_batch)>& request_next);

  TrainerConfig config_;
  RateFactors rate_factors_;
  std::unique_ptr<Optimizer> optimizer_;
  Network network_;
  TrainState state_;
  std::optional<ScheduleSpan> span_;              // none: the schedule is of the steps
  double rate_ = 0, clip_scale_ = 1, share_ = 1;  // of a micro-batch in its batch
  double square_sum_ = 0;                         // of the gradients that are ready
  std::string_view not_finite_;                   // a weight that the present step broke
  bool unchecked_ = false;  // another processor updated weights since they were looked at
};

}  // namespace moil
