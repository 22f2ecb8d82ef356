// system.overview: what a person wants to know at a glance. Loop thread only.
#pragma once

#include "daemon/json/fields.h"
#include "daemon/schedule/window.h"

namespace moil::daemon {

struct NightView;

// docs/protocol.md, system.overview, says what is in it.
Json overview(const NightView& nights);
// The window that is open, or the next one.
Window night_window(const NightView& nights);
// How long the schedule's nights take and when and why not it comes: members of an object.
Json next_nights(const NightView& nights);

}  // namespace moil::daemon
