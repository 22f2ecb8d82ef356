// The feature cache as the daemon sees it: opened for one request on the background thread and
// closed again, for the worker is its true owner and one process may open it only once.
#pragma once

#include "daemon/state_layout.h"
#include "featurecache/cache.h"

namespace moil::daemon {

inline cache::FeatureCache open_cache(const StateLayout& layout, std::int64_t quota_bytes) {
  return cache::FeatureCache(layout.cache(),
                             {.quota_bytes = static_cast<std::uint64_t>(quota_bytes)});
}

}  // namespace moil::daemon
