// What an interval trains: the tensors that matter most in its time (ElasticTrainer, §4). Its steps
// may leave out layers that do not learn (tail_cut.h).
//
// Pure functions; safe from any thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "engine/elastic/pace.h"
#include "engine/elastic/tail_cut.h"
#include "engine/elastic/timing_profile.h"

namespace moil {

// Seconds of a step that trains the selection, in the mean of an interval, by the profile and what
// its maps save. The graph is the one that was profiled. Throws as predicted_step().
[[nodiscard]] double interval_step(const TimingProfile& profile, const Graph& graph,
                                   const TailTerms& tail, const std::set<std::string>& selection);

// The least of these: of the cheapest layer, behind maps if they save something.
[[nodiscard]] double smallest_step(const TimingProfile& profile, const Graph& graph,
                                   const TailTerms& tail);

// What the last epochs of a run keep of its time (pace.h), for an interval of so many. Maps are
// computed once, by the first interval that begins behind them.
[[nodiscard]] PaceLeast pace_least(const TimingProfile& profile, const Graph& graph,
                                   const TailTerms& tail, std::int64_t epochs);

struct IntervalQuestion {
  const TimingProfile& profile;
  const TailTerms& tail;
  const std::map<std::string, double>& importance;  // of every tensor of the profile
  double step_seconds = 0;                          // that a step may take in the mean
  int resolution = 100'000;
  std::function<bool(const std::set<std::string>&)> fits;  // as peak memory; all if empty
};

// Time that is left trains what is of no use by its importance. If nothing fits: what takes
// least, which may take longer than allowed.
[[nodiscard]] std::set<std::string> select_for_interval(const IntervalQuestion& question);

}  // namespace moil
