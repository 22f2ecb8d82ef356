// The profiles that a run chooses by: each from an epoch on. They are an input of the run, and what
// its own steps told of the machine's speed is one from then on.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/elastic/elastic_interval.h"
#include "engine/elastic/elastic_overhead.h"
#include "engine/elastic/profile_update.h"
#include "engine/elastic/timing_profile.h"

namespace moil {

struct ProfileInForce {
  std::int64_t epoch = 0;  // from which on selections are made by it
  TimingProfile profile;
  double seconds = 0;            // that measuring it took
  std::string why = "measured";  // or "stored", "drift"
  // Measured with the first choice where it is not given.
  std::optional<ElasticOverhead> overhead = std::nullopt;
};

class ProfilesInForce {
 public:
  // By epoch, the first from 0 on. Throws kInvalidArgument where there is none.
  explicit ProfilesInForce(std::vector<ProfileInForce> profiles);

  const std::vector<ProfileInForce>& all() const { return profiles_; }
  const ProfileInForce& first() const { return profiles_.front(); }
  const ProfileInForce& present() const { return profiles_[present_]; }
  void set_overhead(const ElasticOverhead& overhead) { profiles_[present_].overhead = overhead; }

  // The one of this epoch is the present one; epochs do not go back.
  void use_of(std::int64_t epoch);
  // After the interval `last`, where its steps took longer or shorter than predicted: one more,
  // from this epoch on, unless one is known. passes: through the network, of a step. trained: what
  // the interval's steps took, part by part; where none was trained here, everything takes as much
  // longer as a step.
  void follow_speed(std::int64_t epoch, const ElasticInterval& last, double passes,
                    const StepSeconds& trained);

 private:
  std::vector<ProfileInForce> profiles_;
  std::size_t present_ = 0;
};

}  // namespace moil
