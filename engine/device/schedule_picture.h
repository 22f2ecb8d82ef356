// A schedule as a picture: layers down, FP, BP and UP across, coloured by processor, transfers
// marked (Sensors 2021, 21, 2364, Figure 8).
#pragma once

#include <string>

#include "engine/device/selection.h"

namespace moil {

// An SVG document. Pointing at a pass tells its seconds on both processors and what is transferred
// before it.
[[nodiscard]] std::string draw_schedule(const std::string& title, const SelectionProblem& problem,
                                        const Schedule& schedule);

}  // namespace moil
