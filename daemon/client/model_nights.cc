#include "daemon/client/model_nights.h"

#include <algorithm>

namespace moil::daemon {

Json night_of(const Json& job, const std::string& metric) {
  const Json result = job.value("result", Json());
  if (!result.is_object()) return nullptr;
  const std::string measured = result.value("metric", "accuracy");
  if (!metric.empty() && measured != metric) return nullptr;
  const bool promoted = result.value("promoted", Json()) == true;
  // A night that is kept back leaves the model as it was.
  const auto value = [&](const std::string& side) {
    return result.value(side + (promoted ? "_after" : "_before"), Json());
  };
  Json night{{"job", job.value("id", Json())},
             {"at", job.value("finished_at", Json())},
             {"kept_back", !promoted},
             {"local", value("local")},
             {"global", value("global")},
             {"before", result.value("local_before", Json())},
             {"metric", measured},
             {"is_fraction", result.value("is_fraction", true)}};
  if (!night["local"].is_number() && !night["global"].is_number()) return nullptr;
  return night;
}

Json fetch_nights(ClientSession& session, const NightsAsked& asked) {
  constexpr std::size_t kMost = 60, kMostLookedAt = 2000;
  Json params{{"limit", 100}};
  if (asked.last_job >= 0) params["before"] = asked.last_job + 1;
  std::string metric = asked.metric;
  Json nights = Json::array();
  for (std::size_t seen = 0; seen < kMostLookedAt && nights.size() < kMost;) {
    const Json reply = session.call("job.list", params);
    for (const Json& one : reply["jobs"]) {
      ++seen;
      if (one["model"] != asked.model || nights.size() >= kMost) continue;
      Json night = night_of(one, metric);
      if (night.is_null()) continue;
      metric = night["metric"];
      nights.push_back(std::move(night));
    }
    const Json next = reply.value("next", Json());
    if (!next.is_object()) break;
    params.update(next);
  }
  std::reverse(nights.begin(), nights.end());
  return nights;
}

}  // namespace moil::daemon
