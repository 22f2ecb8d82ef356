#include "engine/elastic/elastic_record.h"

#include <cmath>

#include "base/error.h"
#include "base/json/json.h"

namespace moil {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(IntervalSeconds, step, whole)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ElasticInterval, epoch, epochs, selection, importance, cut,
                                   profile_seconds, step_seconds, share, schedule_end, measured,
                                   planned_bytes, choosing_seconds, probe_seconds, selector_seconds,
                                   caching_seconds, first_step, seconds_before)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WeightTiming, name, update)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayerTiming, layer, forward, pass, weights)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimingProfile, layers, forward, step, besides)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProfileInForce, profile, seconds, why)

namespace {

template <class T>
T read(const Json& json) {
  try {
    return json.get<T>();
  } catch (const Json::exception& e) {
    throw Error(ErrorCode::kBadData, std::string("record of elastic training: ") + e.what());
  }
}

void check_time(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0)
    throw Error(ErrorCode::kBadData, "timing profile: " + std::to_string(seconds) + " is no time");
}

}  // namespace

Json record_of(const ElasticInterval& interval) { return interval; }
Json record_of(const ProfileInForce& profile) { return profile; }

ElasticInterval interval_of(const Json& record) { return read<ElasticInterval>(record); }

ProfileInForce profile_of(const Json& record) {
  ProfileInForce measured = read<ProfileInForce>(record);
  const TimingProfile& profile = measured.profile;
  for (const double seconds : {profile.forward, profile.step, profile.besides}) check_time(seconds);
  for (const LayerTiming& layer : profile.layers) {
    check_time(layer.forward);
    check_time(layer.pass);
    for (const WeightTiming& w : layer.weights) check_time(w.update);
  }
  return measured;
}

}  // namespace moil
