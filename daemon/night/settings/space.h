// What there is to choose from for a job: depths, rates and views that its open fields, its model
// and its pack leave.
#pragma once

#include "daemon/night/night_data.h"
#include "daemon/night/settings/search.h"

namespace moil::night {

// `before` is left empty.
[[nodiscard]] SearchSpace search_space(const daemon::JobSpec& job, const StoredModel& base,
                                       const NightData& data);

}  // namespace moil::night
