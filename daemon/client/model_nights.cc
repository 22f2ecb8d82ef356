#include "daemon/ctl/jobs/model_nights.h"

#include <algorithm>

#include "daemon/ctl/jobs/report_figures.h"

namespace moil::daemon::ctl {

Json night_of(const Json& job, const Json& metric) {
  const Json result = at(job, "/result");
  if (!result.is_object() || at(result, "/metric") != metric) return nullptr;
  const bool promoted = at(result, "/promoted") == true;
  // A night that is kept back leaves the model as it was.
  const auto value = [&](const std::string& side) {
    return at(result, ("/" + side + (promoted ? "_after" : "_before")).c_str());
  };
  Json night{{"job", at(job, "/id")},
             {"at", at(job, "/finished_at")},
             {"kept_back", !promoted},
             {"local", value("local")},
             {"global", value("global")}};
  if (!night["local"].is_number() && !night["global"].is_number()) return nullptr;
  return night;
}

Json fetch_nights(Session& session, const Json& job) {
  constexpr std::size_t kMost = 60, kMostLookedAt = 2000;
  const Json metric = at(job, "/result/metric");
  Json params{{"limit", 100}, {"before", job["id"].get<std::int64_t>() + 1}};
  Json nights = Json::array();
  for (std::size_t seen = 0; seen < kMostLookedAt && nights.size() < kMost;) {
    const Json reply = session.call("job.list", params);
    for (const Json& one : reply["jobs"]) {
      ++seen;
      if (one["model"] != job["model"] || nights.size() >= kMost) continue;
      if (Json night = night_of(one, metric); !night.is_null()) nights.push_back(std::move(night));
    }
    const Json next = reply.value("next", Json());
    if (!next.is_object()) break;
    params.update(next);
  }
  std::reverse(nights.begin(), nights.end());
  return nights;
}

}  // namespace moil::daemon::ctl
