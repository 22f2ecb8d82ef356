// Everything that moild tells Prometheus, as text (docs/operations.md lists it).
//
// No metric names a label or a sample: what users label stays on the device. Loop thread only.
#pragma once

#include <functional>
#include <string>

namespace moil::daemon {

class Service;

// Calls `done` with the text: what the loop knows is read at once, files and the cache in the
// background. kCancelled where the service is going.
void collect_metrics(Service& service, std::function<void(std::string text)> done);

}  // namespace moil::daemon
