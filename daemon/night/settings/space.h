// What there is to choose from for a job: depths, rates and views that its open fields, its model
// and its pack leave.
#pragma once

#include "daemon/night/data/night_data.h"
#include "daemon/night/settings/search.h"

namespace moil::night {

// The classifier alone, three layers, about sixteen and all of them. About sixteen are those of
// twelve to sixteen behind the smallest feature map: what the cache holds and every step reads.
[[nodiscard]] std::vector<Depth> depths_of(const ModelDescription& model);

// samples: that a trial trains on. `before` is left empty.
[[nodiscard]] SearchSpace search_space(const daemon::JobSpec& job, const StoredModel& base,
                                       const NightData& data, std::size_t samples);

}  // namespace moil::night
