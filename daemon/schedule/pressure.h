// How much of the last minute work stood still for want of memory or for a disk, as the kernel
// counts it (pressure stall information).
#pragma once

#include <optional>
#include <string>

namespace moil::daemon {

// From the text of /proc/pressure/NAME: the share of the last minute in which some task waited, 0
// to 1. Empty if it is not understood.
std::optional<double> parse_pressure(const std::string& text);

}  // namespace moil::daemon
