#include "daemon/ctl/device/next_step.h"

#include <algorithm>

#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

bool has_model_in_service(const Json& versions) {
  return std::ranges::any_of(versions, [](const Json& v) { return v["active"] == true; });
}

// What there is to look at of the night that ended last; empty: nothing.
std::string after_the_night(const Json& night) {
  if (!night.is_object()) return "";
  const std::string state = cell(night["state"]);
  if (state == "failed") return "last night failed: moilctl logs " + cell(night["job"]);
  if (state == "rejected-by-guard") return "last night was kept back: moilctl report --last";
  return "";
}

std::string next_night(const Json& nights) {
  const Json* first = nullptr;
  for (const Json& night : nights)
    if (night["at"].is_string() && (first == nullptr || night["at"] < (*first)["at"]))
      first = &night;
  if (first == nullptr) return "no schedule is enabled: moilctl schedule list";
  return "nothing: the next night is at " + cell((*first)["at"]);
}

}  // namespace

std::string next_step(const Standing& s) {
  if (!has_model_in_service(s.models)) return "no model yet: moilctl setup FOLDER";
  const bool known = s.overview.is_object();
  if (known && !s.overview["attention"].empty())
    return "see to the ATTENTION above: moilctl doctor";
  if (s.labelled == 0 && s.unlabelled == 0) return "no samples yet: moilctl setup FOLDER";
  if (s.unlabelled > 0)
    return counted(s.unlabelled, "sample") + (s.unlabelled == 1 ? " has" : " have") +
           " no label: moilctl review";
  if (!known) return "nothing";
  if (const std::string night = after_the_night(s.overview["last_night"]); !night.empty())
    return night;
  if (s.overview["next_nights"].empty())
    return "no schedule, so no night comes by itself: moilctl schedule add FILE";
  return next_night(s.overview["next_nights"]);
}

}  // namespace moil::daemon::ctl
