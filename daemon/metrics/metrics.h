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
#include "datasets/labels/label_store.h"

namespace moil::daemon {

// What they are figures of; outlives the collecting.
struct Measured {
  const NightView& nights;
  const StateLayout& layout;
  const data::LabelStore& labels;  // for the background thread
  Background& background;
  const Server& server;
  const Counts& counts;
};

// Calls `done` with the text: what the loop knows is read at once, files and the cache in the
// background. kCancelled if the service is going.
void collect_metrics(const Measured& measured, std::function<void(std::string text)> done);

}  // namespace moil::daemon
