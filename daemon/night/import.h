// Bringing a model into the store: checked whole, then renamed into place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "daemon/state_layout.h"
#include "daemon/worker_protocol.h"

namespace moil::night {

// Nothing half-done stays behind. Throws what read_model_folder throws.
[[nodiscard]] daemon::ImportResult import_model(const std::filesystem::path& source,
                                                const daemon::StateLayout& layout,
                                                const std::string& name, std::int64_t version);

}  // namespace moil::night
