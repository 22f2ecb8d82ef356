// The feature cache as the daemon sees it: opened for one request on the background thread and
// closed again, for the worker is its true owner and one process may open it only once.
#pragma once

#include "daemon/log/log.h"
#include "daemon/spec/state_layout.h"
#include "featurecache/cache.h"
#include "featurecache/discard.h"

namespace moil::daemon {

inline cache::FeatureCache open_cache(const StateLayout& layout, std::int64_t quota_bytes) {
  return cache::FeatureCache(layout.cache(),
                             {.quota_bytes = static_cast<std::uint64_t>(quota_bytes)});
}

// What `work` gives for the cache; if that cannot be used it goes, and this gives `instead`, for
// nothing is in it any more.
template <typename Work, typename Result>
Result in_usable_cache(const StateLayout& layout, std::int64_t quota_bytes, const Work& work,
                       Result instead) {
  try {
    auto cache = open_cache(layout, quota_bytes);
    return work(cache);
  } catch (const cache::Unusable& error) {
    log_warn("the cache of feature maps is removed: {}", error.what());
    cache::discard(layout.cache());
    return instead;
  }
}

}  // namespace moil::daemon
