// Which versions nobody needs any more, by the rules of the retention.
//
// Kept are the newest ones, those that are pinned, the one in service and its parent (where
// model.rollback goes), what unfinished jobs and failed ones that may be tried again began with,
// and the anchors of all these. Loop thread only.
#pragma once

#include <vector>

#include "daemon/state/model_store.h"

namespace moil::daemon {

// Every model's, oldest first. newest: how many of each are kept for their age alone.
[[nodiscard]] std::vector<ModelVersion> superfluous_versions(const ModelStore& models,
                                                             Database& database,
                                                             const StateLayout& layout, int newest);

}  // namespace moil::daemon
