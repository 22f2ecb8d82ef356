// cache.stats, cache.gc, cache.verify: asked for on the loop's thread, done in the background.
#include <algorithm>

#include "daemon/methods/methods.h"
#include "daemon/rpc/page.h"
#include "daemon/service/service.h"
#include "daemon/upkeep/cache_upkeep.h"

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

Json stats(const StateLayout& layout, std::int64_t quota, const StatsParams& params) {
  auto s = open_cache(layout, quota).stats();
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

Json verify(const StateLayout& layout, std::int64_t quota, bool repair) {
  const auto report = verified(layout, quota, repair);
  Json bad = Json::array();
  for (const auto& entry : report.bad) {
    bad.push_back({{"key", cache::to_string(entry.key)}, {"what", entry.what}});
  }
  return {
      {"ok", report.ok()},     {"entries", report.entries},     {"bad_entries", report.bad_entries},
      {"bad", std::move(bad)}, {"structure", report.structure}, {"repaired", report.repaired}};
}

Json gc(const StateLayout& layout, std::int64_t quota, const std::vector<cache::ModelId>& in_use) {
  const auto removed = remove_unused_maps(layout, quota, in_use);
  return {{"removed_entries", removed.entries}, {"removed_bytes", removed.bytes}};
}

void start_stats(Service& s, const Call& call, const Responder& responder) {
  const auto params = read_fields<StatsParams>(call.params, "the parameters of cache.stats");
  answer_in_background(s.background, responder, [&s, params] {
    return stats(s.layout, s.config.cache.quota_bytes, params);
  });
}

void start_verify(Service& s, const Call& call, const Responder& responder) {
  const auto params = read_fields<VerifyParams>(call.params, "the parameters of cache.verify");
  answer_in_background(s.background, responder, [&s, params] {
    return verify(s.layout, s.config.cache.quota_bytes, params.repair);
  });
}

void start_gc(Service& s, const Call& call, const Responder& responder) {
  const auto params = read_fields<GcParams>(call.params, "the parameters of cache.gc");
  if (const auto running = s.scheduler.running()) {
    throw Error(
        ErrorCode::kFailedPrecondition,
        "job " + std::to_string(*running) + " is using the cache; try again when it is done");
  }
  const auto in_use =
      params.all ? std::vector<cache::ModelId>() : backbones_in_use(s.jobs, s.layout);
  answer_in_background(s.background, responder, [&s, in_use] {
    return s.reserve.for_deletion([&] { return gc(s.layout, s.config.cache.quota_bytes, in_use); });
  });
}

}  // namespace

MethodTable cache_methods(Service& s) {
  const auto lane = Method::Lane::kSteps;
  return {
      {"cache.stats", "0.1", Role::kRead, "what the feature cache holds", lane, nullptr,
       [&s](Call& call, const Responder& responder) { start_stats(s, call, responder); }},
      {"cache.gc", "0.1", Role::kAdmin, "remove feature maps of backbones no longer used", lane,
       nullptr, [&s](Call& call, const Responder& responder) { start_gc(s, call, responder); }},
      {"cache.verify", "0.1", Role::kAdmin, "check every feature map's checksum", lane, nullptr,
       [&s](Call& call, const Responder& responder) { start_verify(s, call, responder); }},
  };
}

}  // namespace moil::daemon
