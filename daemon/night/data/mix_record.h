// A job's mix (datasets/sampling/mix.h) as it is kept in the job's folder: drawn once, so that a
// resumed job trains on the same samples, whatever was labelled meanwhile.
#pragma once

#include "base/json/json.h"
#include "datasets/sampling/mix.h"

namespace moil::night {

[[nodiscard]] nlohmann::json to_json(const data::Mix& mix);

// Finds the samples again by their digests. `lost` counts those that are gone (forgotten since);
// they are left out. Throws kBadData for a damaged record.
[[nodiscard]] data::Mix mix_from_json(const nlohmann::json& json, const data::Dataset& global,
                                      const data::Dataset& local, std::size_t& lost);

// That samples are said not to be what no label is, which teaches nothing; empty if none is.
[[nodiscard]] std::string denied_in_vain_remark(const data::Mix& mix);

[[nodiscard]] std::size_t count_global(const data::Mix& mix);  // of mix.train

}  // namespace moil::night
