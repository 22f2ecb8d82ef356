// cache.stats, cache.gc, cache.verify: in the background, for one process opens the cache once.
#include <algorithm>
#include <filesystem>

#include "daemon/config/config.h"
#include "daemon/methods/methods.h"
#include "daemon/rpc/page.h"
#include "daemon/upkeep/cache_access.h"
#include "daemon/upkeep/housekeeping.h"

namespace moil::daemon {
namespace {

struct VerifyParams {
  bool repair = false;
};

struct StatsParams {
  std::string after;  // a backbone's id
};

struct GcParams {
  bool all = false;  // what current models use, too
};

const Fields<VerifyParams>& fields_of(const VerifyParams*) {
  static const Fields<VerifyParams> table = {field("repair", &VerifyParams::repair)};
  return table;
}

const Fields<StatsParams>& fields_of(const StatsParams*) {
  static const Fields<StatsParams> table = {field("after", &StatsParams::after)};
  return table;
}

const Fields<GcParams>& fields_of(const GcParams*) {
  static const Fields<GcParams> table = {field("all", &GcParams::all)};
  return table;
}

Json to_json(const cache::ModelStats& model) {
  return {{"id", cache::to_hex(model.id)},
          {"description", model.description},
          {"last_used", utc_text(model.last_used * 1000)},
          {"entries", model.entries},
          {"bytes", model.bytes}};
}

// None is made for the question: a full disk has no room for one.
cache::CacheStats stats_of(const StateLayout& layout, std::int64_t quota) {
  if (std::filesystem::exists(layout.cache())) return open_cache(layout, quota).stats();
  cache::CacheStats none;
  none.quota_bytes = static_cast<std::uint64_t>(quota);
  return none;
}

Json stats(const StatsParams& params, const StateLayout& layout, const Config& config) {
  auto s = stats_of(layout, config.cache.quota_bytes);
  std::ranges::sort(s.models, {}, [](const auto& model) { return cache::to_hex(model.id); });
  Page page(kMostListed);
  for (const auto& model : s.models) {
    const std::string id = cache::to_hex(model.id);
    if (id > params.after && !page.add(to_json(model), {{"after", id}})) break;
  }
  Json reply = std::move(page).finish("models");
  reply.update({{"entries", s.entries},
                {"bytes", s.bytes},
                {"quota_bytes", s.quota_bytes},
                {"disk_bytes", s.disk_bytes},
                {"free_bytes", s.free_bytes}});
  return reply;
}

// A cache that cannot be used at all: repaired, it is gone.
cache::VerifyReport unusable(const StateLayout& layout, const cache::Unusable& error, bool repair) {
  cache::VerifyReport report;
  report.structure.push_back(error.what() + std::string(repair ? "; it was removed" : ""));
  if (repair) cache::discard(layout.cache());
  return report;
}

cache::VerifyReport verified(const StateLayout& layout, std::int64_t quota, bool repair) {
  try {
    return open_cache(layout, quota).verify(repair);
  } catch (const cache::Unusable& error) {
    return unusable(layout, error, repair);
  }
}

Json verify(const VerifyParams& params, const StateLayout& layout, const Config& config) {
  const auto report = verified(layout, config.cache.quota_bytes, params.repair);
  Json bad = Json::array();
  for (const auto& entry : report.bad) {
    bad.push_back({{"key", cache::to_string(entry.key)}, {"what", entry.what}});
  }
  return {
      {"ok", report.ok()},     {"entries", report.entries},     {"bad_entries", report.bad_entries},
      {"bad", std::move(bad)}, {"structure", report.structure}, {"repaired", report.repaired}};
}

void gc(const GcParams& params, const Responder& responder, Housekeeping& housekeeping) {
  housekeeping.remove_maps(params.all, responder);
}

}  // namespace

MethodTable cache_methods(const Parts& by) {
  using Lane = Method::Lane;
  return {
      {"cache.stats", "0.1", Role::kRead, "what the feature cache holds", Lane::kWrite, by(stats)},
      {"cache.gc", "0.1", Role::kAdmin, "remove feature maps of backbones no longer used",
       Lane::kSteps, by(gc)},
      {"cache.verify", "0.1", Role::kAdmin, "check every feature map's checksum", Lane::kWrite,
       by(verify)},
  };
}

}  // namespace moil::daemon
