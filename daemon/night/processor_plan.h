// Who would compute what of a night's training beside a second processor, told without training:
// the part of job.plan that asks for it (docs/protocol.md).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "daemon/night/processors.h"
#include "engine/device/selection.h"

namespace moil::night {

struct ProcessorPlan {
  nlohmann::json
      told;  // as engine/io/selection_json.h makes it; {"why"} where no device can be had
  std::string picture;  // of the schedule, SVG; empty where there is none
};

// Measures training on both processors, in memory that is given back. title: of the picture.
// folder: for what drivers compile.
[[nodiscard]] ProcessorPlan plan_processors(const TrainingToPlace& training, SelectionMethod method,
                                            const std::string& title,
                                            const std::filesystem::path& folder);

}  // namespace moil::night
