// system.overview: what a person wants to know at a glance. Loop thread only.
#pragma once

#include "daemon/json/fields.h"
#include "daemon/schedule/window.h"

namespace moil::daemon {

class Service;

// docs/protocol.md, system.overview, says what is in it.
Json overview(Service& service);
// The window that is open, or the next one.
Window night_window(const Service& service);
// How long the schedule's nights take and when and why not it comes: members of an object.
Json next_nights(const Service& service);

}  // namespace moil::daemon
