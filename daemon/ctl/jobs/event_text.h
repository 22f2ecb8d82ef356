// What a job's events say, in a line for people. Pure functions; safe from any thread.
#pragma once

#include <string>

#include "daemon/json/fields.h"

namespace moil::daemon::ctl {

// "epoch 3  loss 0.3100  global 97.0%  local 95.0%" of a curve's point.
std::string curve_text(const Json& event);
// Any event that moild keeps: "succeeded: promoted", "stage train", a note's message, a curve's
// point. Another kind gives its name.
std::string event_text(const Json& event);

}  // namespace moil::daemon::ctl
