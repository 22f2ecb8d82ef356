// Everything that moild tells Prometheus, as text (docs/operations.md lists it).
//
// No metric names a label or a sample: what users label stays on the device. Loop thread only.
#pragma once

#include <functional>
#include <string>

#include "daemon/jobs/night_view.h"
#include "daemon/loop/background.h"
#include "daemon/metrics/counts.h"
#include "daemon/rpc/server.h"
#include "daemon/schedule/started.h"
#include "datasets/labels/label_store.h"

namespace moil::daemon {

class Metrics {
 public:
  // All outlive it and its work.
  struct Surroundings {
    const NightView& nights;
    const StateLayout& layout;
    const data::LabelStore& labels;  // for the background thread
    Background& background;
    const Server& server;
    const Counts& counts;
    const Started& started;
  };

  explicit Metrics(const Surroundings& around) : s_(around) {}

  // Calls `done` with the text: what the loop knows is read at once, files and the cache in the
  // background. kCancelled where the service is going.
  void collect(std::function<void(std::string text)> done) const;

 private:
  const Surroundings s_;
};

}  // namespace moil::daemon
