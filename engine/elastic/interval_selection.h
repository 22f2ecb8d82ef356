// What an interval trains: the tensors that matter most in its time (ElasticTrainer, §4), where
// layers that do not learn may be left out of its steps (tail_cut.h).
//
// Pure functions; safe from any thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "engine/elastic/tail_cut.h"
#include "engine/elastic/timing_profile.h"
#include "engine/graph/graph.h"

namespace moil {

// A step of an interval, by the profile and what its maps save.
class IntervalStep {
 public:
  // All must outlive it. The graph is the one that was profiled.
  IntervalStep(const TimingProfile& profile, const Graph& graph, const TailTerms& tail)
      : profile_(profile), graph_(graph), tail_(tail) {}

  // Seconds in the mean of the interval. Throws as predicted_step().
  double seconds(const std::set<std::string>& selection) const;
  const TimingProfile& profile() const { return profile_; }
  const Graph& graph() const { return graph_; }
  const TailTerms& tail() const { return tail_; }

 private:
  const TimingProfile& profile_;
  const Graph& graph_;
  const TailTerms& tail_;
};

// The layer that takes least to train, all of its weights: a classifier's bias alone would take
// less, but teaches it nothing.
struct CheapestLayer {
  std::set<std::string> weights;  // empty where nothing has weights
  double backward_seconds = 0;    // infinite then
};
[[nodiscard]] CheapestLayer cheapest_layer(const TimingProfile& profile);

struct IntervalQuestion {
  const std::map<std::string, double>& importance;  // of every tensor of the profile
  double step_seconds = 0;                          // that a step may take in the mean
  const std::set<std::string>* before = nullptr;    // what was trained last, where anything was
  int resolution = 100'000;
  std::function<bool(const std::set<std::string>&)> fits;  // as peak memory; all where empty
};

// Where nothing is of use: what was trained before, or what takes least. That alone may take longer
// than allowed.
[[nodiscard]] std::set<std::string> select_for_interval(const IntervalStep& step,
                                                        const IntervalQuestion& question);

}  // namespace moil
