// What a night's data and the weights that it came to are called: digests that are kept with the
// version (daemon/state/provenance.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "daemon/spec/worker_protocol.h"
#include "datasets/sampling/mix.h"

namespace moil::night {

// {"local": {"samples", "held_out", "digest"}, "global": {...}, "held_out": DIGEST}: the same for
// the same samples under the same labels, in whatever order they were drawn.
[[nodiscard]] nlohmann::json data_identity(const data::Mix& mix);

// Identifies a version's folder: equal for files that are equal. kIo.
[[nodiscard]] std::string weights_identity(const std::filesystem::path& folder);

// Why a model with these weights is kept back: a version that was rolled back from had the same.
[[nodiscard]] std::optional<std::string> withdrawn_before(const daemon::JobFile& job,
                                                          const std::string& weights);

}  // namespace moil::night
