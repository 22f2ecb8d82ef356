// A plan as a picture: execution orders across, addresses up, one box a tensor (the papers' figures
// 7 and 8). The order of the peak and the lower bound are marked.
#pragma once

#include <string>

#include "engine/plan/plan_report.h"

namespace moil {

// An SVG document of its own, about 1,200 x 760 units, readable without scripts; a box tells its
// tensor when pointed at.
[[nodiscard]] std::string draw_plan(const std::string& title, const Graph& graph,
                                    const NetworkPlan& plan);

}  // namespace moil
