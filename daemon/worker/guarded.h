// How a worker ends that met an error: with one error event and an exit code (worker_protocol.h).
//
// A worker that crashes is taken for one that met damage, and what it had open is distrusted. So
// what is thrown, of whatever kind and wherever, ends no worker by a signal.
#pragma once

#include <functional>

#include "daemon/spec/worker_protocol.h"

namespace moil::worker {

// What the work returns, or the exit code of what it throws.
[[nodiscard]] int guarded(daemon::EventWriter& events, const std::function<int()>& work);

// What no frame can catch, as another thread's exception, ends the process in the same way from now
// on. `events` outlives the process.
void guard_threads(daemon::EventWriter& events);

}  // namespace moil::worker
