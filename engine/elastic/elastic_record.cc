#include "engine/elastic/elastic_record.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "engine/elastic/timing_profile_json.h"

namespace moil {
namespace {

template <class Read>
auto guarded(const Read& read) {
  try {
    return read();
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorCode::kBadData, std::string("record of elastic training: ") + e.what());
  }
}

}  // namespace

nlohmann::json to_json(const ElasticInterval& interval) {
  return {{"epoch", interval.epoch},
          {"epochs", interval.epochs},
          {"selection", interval.selection},
          {"importance", interval.importance},
          {"cut", interval.cut},
          {"step_seconds", interval.step_seconds},
          {"share", interval.share},
          {"schedule_end", interval.schedule_end},
          {"measured_step_seconds", interval.measured_step_seconds},
          {"planned_bytes", interval.planned_bytes},
          {"choosing_seconds", interval.choosing_seconds},
          {"probe_seconds", interval.probe_seconds},
          {"selector_seconds", interval.selector_seconds},
          {"caching_seconds", interval.caching_seconds},
          {"first_step", interval.first_step},
          {"seconds_before", interval.seconds_before}};
}

ElasticInterval elastic_interval_from_json(const nlohmann::json& json) {
  return guarded([&] {
    ElasticInterval interval;
    json.at("epoch").get_to(interval.epoch);
    json.at("epochs").get_to(interval.epochs);
    json.at("selection").get_to(interval.selection);
    json.at("importance").get_to(interval.importance);
    json.at("cut").get_to(interval.cut);
    json.at("step_seconds").get_to(interval.step_seconds);
    json.at("share").get_to(interval.share);
    json.at("schedule_end").get_to(interval.schedule_end);
    json.at("measured_step_seconds").get_to(interval.measured_step_seconds);
    json.at("planned_bytes").get_to(interval.planned_bytes);
    json.at("choosing_seconds").get_to(interval.choosing_seconds);
    json.at("probe_seconds").get_to(interval.probe_seconds);
    json.at("selector_seconds").get_to(interval.selector_seconds);
    json.at("caching_seconds").get_to(interval.caching_seconds);
    json.at("first_step").get_to(interval.first_step);
    json.at("seconds_before").get_to(interval.seconds_before);
    return interval;
  });
}

nlohmann::json to_json(const ProfileInForce& profile) {
  nlohmann::json json = {{"epoch", profile.epoch},
                         {"profile", to_json(profile.profile)},
                         {"seconds", profile.seconds},
                         {"why", profile.why}};
  if (profile.overhead)
    json["overhead"] = {{"read", profile.overhead->read},
                        {"choose", profile.overhead->choose},
                        {"probe", profile.overhead->probe}};
  return json;
}

ProfileInForce profile_in_force_from_json(const nlohmann::json& json) {
  return guarded([&] {
    ProfileInForce profile;
    json.at("epoch").get_to(profile.epoch);
    profile.profile = timing_profile_from_json(json.at("profile"));
    json.at("seconds").get_to(profile.seconds);
    json.at("why").get_to(profile.why);
    if (json.contains("overhead")) {
      const nlohmann::json& overhead = json["overhead"];
      profile.overhead = {overhead.at("read").get<double>(), overhead.at("choose").get<double>(),
                          overhead.at("probe").get<double>()};
    }
    return profile;
  });
}

}  // namespace moil
