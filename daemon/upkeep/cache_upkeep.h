// Which feature maps are still of use, and the removal of the others.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/state/job_store.h"
#include "daemon/upkeep/cache_access.h"

namespace moil::daemon {

// The backbones that the last nights used, for a new night on the same model and split finds its
// feature maps again, and those of nights that have begun and go on later. Loop thread only.
[[nodiscard]] std::vector<cache::ModelId> backbones_in_use(const JobStore& jobs,
                                                           const StateLayout& layout);

// The rest may run on any thread, one at a time. What is of none of the backbones in use.
[[nodiscard]] cache::Removed unused_maps(const StateLayout& layout, std::int64_t quota_bytes,
                                         const std::vector<cache::ModelId>& in_use);
cache::Removed remove_unused_maps(const StateLayout& layout, std::int64_t quota_bytes,
                                  const std::vector<cache::ModelId>& in_use);

}  // namespace moil::daemon
