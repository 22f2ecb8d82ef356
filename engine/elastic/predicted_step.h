// What a step that trains some weights will take, put together from a timing profile on the graph
// that was measured (prepared, with its loss): forward, the updates, and passing the error on
// through every layer that it has to pass (ElasticTrainer, §4.1; on parallel branches only those
// that are entered).
//
// Not thread-safe; the functions are pure.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "engine/elastic/backward_time.h"
#include "engine/elastic/timing_profile.h"
#include "engine/graph/graph.h"

namespace moil {

// Of a selection that grows: what a weight would add costs a look at the layers where it changes
// something, not at the graph. Layers are numbered as in the profile. Profile and graph must
// outlive it.
class PredictedStep {
 public:
  // A weight of the profile.
  struct Tensor {
    std::size_t layer = 0, weight = 0;
  };

  // Throws kInvalidArgument for a weight ("LAYER.WEIGHT") that the profile or the graph does not
  // have.
  PredictedStep(const TimingProfile& profile, const Graph& graph,
                const std::set<std::string>& selection);

  bool learns(Tensor t) const { return learns_[t.layer][t.weight]; }
  double seconds() const { return seconds(parts(), kernel_learns_, saved()); }
  // What the layers' parts of its backward pass add up to (backward_time.h).
  double parts() const;
  // What a step takes that trains the weight, too, if its parts are so many then.
  double seconds_with(Tensor t, double parts) const {
    return seconds(parts, kernel_learns_ || is_kernel(t), saved_with(t));
  }
  // What it takes less than its parts do, for it trains only one large weight, and nothing deeper.
  double saved() const { return lone_saves() ? weight(lone_).saved() : 0; }
  // What passing the error adds where this layer is to learn.
  double way_parts(std::size_t layer) const;
  // What the layer itself adds where the weight learns.
  double own_parts(Tensor t) const;
  void add(Tensor t);

 private:
  double seconds(double parts, bool kernel, double saved) const {
    return profile_.fixed_seconds() + std::max(0.0, time_.seconds(parts, kernel) - saved);
  }
  bool lone_saves() const { return large_ == 1 && !passes_[lone_.layer]; }
  double saved_with(Tensor t) const;
  const WeightTiming& weight(Tensor t) const { return profile_.layers[t.layer].weights[t.weight]; }
  bool is_kernel(Tensor t) const { return &weight(t) == kernel_; }
  void count(Tensor t);
  // The layers that the error does not pass, and would have to for this one to learn.
  std::vector<std::size_t> way_to(std::size_t layer) const;

  const TimingProfile& profile_;
  const BackwardTime time_;
  const WeightTiming* const kernel_;  // the last one
  bool kernel_learns_;
  int large_ = 0;  // weights that learn
  Tensor lone_;    // the first of them
  // By layer:
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<std::vector<bool>> learns_;  // and weight of the profile
  std::vector<double> pass_seconds_;       // where the error passes it
  std::vector<bool> passes_;               // the error passes it
};

// Seconds; throws as PredictedStep.
[[nodiscard]] double predicted_step(const TimingProfile& profile, const Graph& graph,
                                    const std::set<std::string>& selection);

}  // namespace moil
