#include "daemon/upkeep/cache_upkeep.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/files/file.h"
#include "daemon/log/log.h"
#include "daemon/state/disk_usage.h"

namespace moil::daemon {
namespace {

constexpr int kNightsRemembered = 20;
constexpr std::uint64_t kMostIdsBytes = 1 << 20;

void add_ids_of(const std::filesystem::path& file, std::vector<cache::ModelId>& ids) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(file, missing)) return;
  std::istringstream lines(read_text(file, kMostIdsBytes));
  for (std::string line; std::getline(lines, line);) {
    try {
      ids.push_back(cache::parse_model_id(line));
    } catch (const Error& error) {  // it computes its maps again
      log_warn("{}: {}", file.string(), error.what());
    }
  }
}

}  // namespace

std::vector<cache::ModelId> backbones_in_use(const JobStore& jobs, const StateLayout& layout) {
  std::vector<cache::ModelId> out;
  for (const JobState unfinished : {JobState::kQueued, JobState::kRunning}) {
    jobs.list(unfinished, 0, Details::kWithout, [&](const Job& job) {
      if (job.attempts > 0) add_ids_of(layout.job_maps(job.id), out);
      return true;
    });
  }
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
  if (in_use.empty()) {  // a folder goes without a byte of room, rows of it do not
    const cache::Removed all = unused_maps(layout, quota_bytes, in_use);
    cache::discard(layout.cache());
    return all;
  }
  return in_usable_cache(
      layout, quota_bytes, [&](cache::FeatureCache& cache) { return cache.gc(in_use); },
      cache::Removed{});
}

}  // namespace moil::daemon
