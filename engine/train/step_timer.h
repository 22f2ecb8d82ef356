// Times the steps of a network, one by one, on batches of zeros.
//
// Not thread-safe. The network is allocated and outlives it.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "engine/device/step_kind.h"
#include "engine/run/network.h"

namespace moil {

class StepTimer {
 public:
  explicit StepTimer(Network& network);
  ~StepTimer();
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

  // Runs a training step, or, of an inference network, a forward pass; gives the seconds of all of
  // it.
  double run(WeightUpdater& updater);
  void forget() { parts_.clear(); }
  // The median over the runs, in seconds; 0 for a step that is not in the plan.
  double seconds(int node, StepKind kind) const;
  // The same of F, by node.
  std::vector<double> forward_seconds() const;

 private:
  Network& network_;
  std::vector<double> orders_;
  std::map<std::pair<int, StepKind>, std::vector<double>> parts_;
};

}  // namespace moil
