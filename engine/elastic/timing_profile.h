// What each step of training takes, by tensor: the t_w and t_g of ElasticTrainer, §4.1, measured
// with the engine's own steps instead of read off a framework's profiler.
//
// A layer's steps depend on which of its weights learn: a batch norm whose gamma learns has the
// sums that its derivative needs already, a convolution's bias needs no input. So training is
// measured with all weights, with each layer's first alone, its second alone, with some of them and
// with each of the largest (backward_samples.h), and with hardly any; what a selection takes is put
// together from that (predicted_step.h).
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "engine/elastic/tensor_selector.h"
#include "engine/train/trainer.h"

namespace moil {

// Seconds.
struct WeightTiming {
  std::string name;       // "LAYER.WEIGHT"
  double gradient = 0;    // CG, where no other weight of the layer learns
  double derivative = 0;  // CD meanwhile
  double apply = 0;       // AG
  // Of a large one that is the only one and the deepest to learn: nothing else passes through the
  // caches between its CG and its AG. 0 for small ones.
  double lone_gradient = 0, lone_apply = 0;

  bool is_large() const { return lone_apply > 0; }
  // What it takes less then.
  double saved_gradient() const { return is_large() ? std::max(0.0, gradient - lone_gradient) : 0; }
  double saved_apply() const { return is_large() ? std::max(0.0, apply - lone_apply) : 0; }
  double saved() const { return saved_gradient() + saved_apply(); }
};
struct LayerTiming {
  std::string layer;
  double forward = 0;
  double derivative = 0;                        // CD where nothing of the layer learns
  double all_gradient = 0, all_derivative = 0;  // where all of its weights do
  std::vector<WeightTiming> weights;            // those that may be trained

  // Which weights learn, one flag each.
  std::vector<bool> learning(const std::set<std::string>& selection) const;
  // CG and AG of the weights that learn, both, and CD.
  double gradient_seconds(const std::vector<bool>& learns) const;
  double apply_seconds(const std::vector<bool>& learns) const;
  double update_seconds(const std::vector<bool>& learns) const;
  double pass_seconds(const std::vector<bool>& learns) const;
};

// A backward pass, measured as a whole (backward_time.h).
struct BackwardTiming {
  double share = 0;   // its layers' parts, of those of training everything
  double factor = 1;  // what it takes, of its layers' parts
};

struct TimingProfile {
  std::vector<LayerTiming> layers;  // in the order in which they run
  double forward = 0;               // the whole forward pass
  double step = 0;                  // a step in which everything learns
  double besides = 0;               // what every step takes outside of its layers
  // That train the last kernel, and that do not; shares rise.
  std::vector<BackwardTiming> backward = {}, kernelless_backward = {};

  // Of a step, whatever learns.
  double fixed_seconds() const { return forward + besides; }
};

// The tensor of the last layer that takes longest to update: of a classifier its kernel. Null where
// nothing learns.
[[nodiscard]] const WeightTiming* last_kernel(const TimingProfile& profile);
[[nodiscard]] bool has_last_kernel(const std::set<std::string>& selection,
                                   const TimingProfile& profile);

// The only large weight of the selection; null where it has none or several. Others may lie deeper.
[[nodiscard]] const WeightTiming* lone_weight(const std::set<std::string>& selection,
                                              const TimingProfile& profile);

// Seconds that the layers' parts of a backward pass add up to where everything learns.
[[nodiscard]] double backward_parts(const TimingProfile& profile);

// The profile of a machine on which everything takes `factor` times as long.
[[nodiscard]] TimingProfile scaled(const TimingProfile& profile, double factor);

// What the selector chooses from: the weights of the profile from the output on, each layer's
// passing on of the error behind its weights, as an entry of its own. forward_share: what of a
// layer's forward pass is paid only where it or a layer before it learns (tail_cut.h).
struct ElasticProblem {
  std::vector<ElasticEntry> entries;
  std::vector<std::string> weights;  // of each entry; empty for passing

  // The weights of selectable entries.
  std::set<std::string> named(const std::vector<std::size_t>& selected) const;
};
[[nodiscard]] ElasticProblem elastic_problem(const TimingProfile& profile,
                                             double forward_share = 0);

}  // namespace moil
