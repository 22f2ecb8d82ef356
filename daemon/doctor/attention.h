// What will not mend itself, a sentence each: system.overview has them all, and the doctor looks
// for the same. Loop thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/json/fields.h"

namespace moil::daemon {

struct NightView;
struct Schedule;

Json attention(const NightView& nights);

// Nights went by while jobs waited in them and none started: for what; empty if that is not so.
std::string lost_nights_sentence(const NightView& nights);
// Windows went by in which the device was off or asleep, so that the schedule, or a job that waits,
// never comes; empty if that is not so.
using WindowsGone = std::vector<std::int64_t>;  // schedule/window.h
std::string slept_through_sentence(const NightView& nights, const Schedule& schedule,
                                   const WindowsGone& gone);
std::string slept_through_sentence(const NightView& nights, const WindowsGone& gone);
WindowsGone windows_gone(const NightView& nights);

// What is to be done about the latter.
constexpr const char* kStayAwake =
    "leave the device on and awake then, have it wake itself (systemctl enable --now "
    "moild-wake.timer), or move \"window\" in moild.json";

}  // namespace moil::daemon
