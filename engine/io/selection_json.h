// A selection between processors (device/selection.h) as JSON: what moil-plan and job.plan tell of
// it (docs/protocol.md).
//
// Pure function; thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/device/selection.h"

namespace moil {

// {"device", "method", "layers": [{"name", "type", "processors", "FP": {"c", "g"}, "BP", "UP"}],
// "methods": {"cpu": {"seconds", "transfers"}, ...}, "refused"}: seconds of a step, on the CPU (c)
// and on the second processor (g, null if it has no way); a third has its id's digit. A pass that a
// layer does not have is left out. schedule: what `method` selects. refused:
// ProcessorMeasurement's.
[[nodiscard]] nlohmann::json selection_json(const std::string& device, SelectionMethod method,
                                            const SelectionProblem& problem,
                                            const Schedule& schedule,
                                            const std::vector<std::string>& refused);

}  // namespace moil
