#include "daemon/service/cache_upkeep.h"

#include <algorithm>
#include <filesystem>

#include "daemon/state/disk_usage.h"

namespace moil::daemon {
namespace {

constexpr int kNightsRemembered = 20;

}  // namespace

std::vector<cache::ModelId> recent_backbones(const JobStore& jobs) {
  std::vector<cache::ModelId> out;
  for (const std::string& id : jobs.backbones(kNightsRemembered))
    out.push_back(cache::parse_model_id(id));
  return out;
}

cache::Removed unused_maps(const StateLayout& layout, std::int64_t quota_bytes,
                           const std::vector<cache::ModelId>& in_use) {
  if (!std::filesystem::exists(layout.cache())) return {};
  cache::Removed unused;
  try {
    for (const cache::ModelStats& model : open_cache(layout, quota_bytes).stats().models) {
      if (std::ranges::find(in_use, model.id) != in_use.end()) continue;
      unused.entries += model.entries;
      unused.bytes += model.bytes;
    }
  } catch (const cache::Unusable&) {  // all of it
    unused.bytes = disk_usage(layout.cache());
  }
  return unused;
}

cache::Removed remove_unused_maps(const StateLayout& layout, std::int64_t quota_bytes,
                                  const std::vector<cache::ModelId>& in_use) {
  return in_usable_cache(
      layout, quota_bytes, [&](cache::FeatureCache& cache) { return cache.gc(in_use); },
      cache::Removed{});
}

}  // namespace moil::daemon
