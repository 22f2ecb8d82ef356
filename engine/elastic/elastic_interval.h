// What elastic training chose for an interval of epochs, and how it went.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace moil {

struct ElasticInterval {
  std::int64_t epoch = 0;   // its first, from 0
  std::int64_t epochs = 0;  // that it has
  std::set<std::string> selection;
  std::map<std::string, double> importance;  // of every tensor, as last probed
  std::string cut;                           // the value that steps begin with; empty: the input
  double step_seconds = 0;                   // predicted, reading included
  // Of a full step's time: what a step takes, and its part of choosing and of computing maps.
  double share = 0;
  double schedule_end = 1;           // how far the learning rate's schedule is at its end
  double measured_step_seconds = 0;  // the mean so far, waiting for batches included
  std::size_t planned_bytes = 0;     // states that wait and weights before the cut included
  // What choosing took, and of that the probe (0: none) and the selector.
  double choosing_seconds = 0, probe_seconds = 0, selector_seconds = 0;
  double caching_seconds = 0;   // and computing maps
  std::int64_t first_step = 0;  // where the run stood when it began
  double seconds_before = 0;
};

}  // namespace moil
