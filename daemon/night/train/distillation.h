// What the model before the night says of its training samples, written down before training
// (data/soft_targets.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "daemon/night/maps/feature_source.h"
#include "daemon/night/maps/head_network.h"
#include "engine/train/task.h"

namespace moil::night {

// What the teacher is asked of these samples: what the portion asks for of global ones.
[[nodiscard]] std::int64_t count_questions(const Portion& portion, const FeatureReader& reader);

// Asks `teacher`, the allocated head of the model before the night, about these. `progress` is told
// how many are done and stops the work by returning false; so returns false if it was stopped,
// and leaves no file then. kIo.
bool write_soft_targets(const std::filesystem::path& path, HeadNetwork& teacher, const Task& task,
                        const Portion& portion, FeatureReader& reader,
                        const std::function<bool(std::int64_t done)>& progress);

}  // namespace moil::night
