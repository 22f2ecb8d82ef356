// What each part of a training step takes, by tensor: the t_w and t_g of ElasticTrainer, §4.1,
// measured once with the engine's own steps (timing_profiler.h).
//
// What a selection takes is the sum of its parts. That is right to some percent; what a run's steps
// really take corrects it (elastic_trainer.h). Pure functions; safe from any thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/elastic/tensor_selector.h"

namespace moil {

struct Graph;

// Seconds.
struct WeightTiming {
  std::string name;   // "LAYER.WEIGHT"
  double update = 0;  // t_w: its gradient and its step
};
struct LayerTiming {
  std::string layer;
  double forward = 0;
  double pass = 0;                    // t_g: pass the error on
  std::vector<WeightTiming> weights;  // those that may be trained
};

struct TimingProfile {
  std::vector<LayerTiming> layers;  // in the order in which they run
  double forward = 0;               // the whole forward pass
  double step = 0;                  // a step in which everything learns
  double besides = 0;               // what every step takes outside of its layers

  // What a step takes, whatever learns.
  double fixed_seconds() const { return forward + besides; }
};

// A profile, and where it is from.
struct ProfileInForce {
  TimingProfile profile;
  double seconds = 0;            // that measuring it took
  std::string why = "measured";  // or "stored"
};

// The layer that takes least to train, all of its weights: a classifier's bias alone would take
// less, but teaches it nothing.
struct CheapestLayer {
  std::set<std::string> weights;  // empty if nothing has weights
  double backward_seconds = 0;    // infinite then
};
[[nodiscard]] CheapestLayer cheapest_layer(const TimingProfile& profile);

// The smallest ρ with which anything can be trained: forward, and the cheapest layer.
[[nodiscard]] double smallest_speedup_ratio(const TimingProfile& profile);

// What a step that trains some weights takes, on the graph that was profiled: forward, the updates,
// and passing the error on through every layer that it has to pass, of parallel branches only those
// that are entered. Throws kInvalidArgument for a weight that the graph does not have.
[[nodiscard]] double predicted_step(const TimingProfile& profile, const Graph& graph,
                                    const std::set<std::string>& selection);

// What the selector chooses from: the weights of the profile from the output on, each layer's
// passing on of the error behind its weights, as an entry of its own. forward_share: what of a
// layer's forward pass is paid only if it or a layer before it learns (tail_cut.h).
struct ElasticProblem {
  std::vector<ElasticEntry> entries;
  std::vector<std::string> weights;  // of each entry; empty for passing
  std::vector<std::size_t> layers;   // of each entry, in the profile

  // The weights of selectable entries.
  std::set<std::string> named(const std::vector<std::size_t>& selected) const;
};
[[nodiscard]] ElasticProblem elastic_problem(const TimingProfile& profile,
                                             double forward_share = 0);

}  // namespace moil
