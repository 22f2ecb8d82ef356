// Who would compute what of a night's training beside a second processor, told without training:
// the part of job.plan that asks for it (docs/protocol.md).
#pragma once

#include <filesystem>
#include <string>

#include "base/json/json.h"
#include "daemon/night/plan/processors.h"
#include "engine/device/selection.h"

namespace moil::night {

struct ProcessorPlan {
  // As engine/io/selection_json.h makes it; {"why"} if no device can be had.
  nlohmann::json told;
  std::string picture;  // of the schedule, SVG; empty if there is none
};

// Measures training on both processors, in memory that is given back. title: of the picture.
// profiles: the folder of what is kept across nights.
[[nodiscard]] ProcessorPlan plan_processors(const TrainingToPlace& training, SelectionMethod method,
                                            const std::string& title,
                                            const std::filesystem::path& profiles);

}  // namespace moil::night
