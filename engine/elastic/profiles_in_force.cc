#include "engine/elastic/profiles_in_force.h"

#include <cmath>

#include "base/error.h"

namespace moil {
namespace {

// A step that takes so much longer or shorter than predicted is another machine's.
constexpr double kDrift = 0.15;
// Of a full step: shorter ones, behind maps, tell little of the machine.
constexpr double kTellingStep = 0.1;

}  // namespace

ProfilesInForce::ProfilesInForce(std::vector<ProfileInForce> profiles)
    : profiles_(std::move(profiles)) {
  if (profiles_.empty())
    throw Error(ErrorCode::kInvalidArgument, "elastic training: no timing profile");
}

void ProfilesInForce::use_of(std::int64_t epoch) {
  while (present_ + 1 < profiles_.size() && profiles_[present_ + 1].epoch <= epoch) ++present_;
}

void ProfilesInForce::follow_speed(std::int64_t epoch, const ElasticInterval& last, double passes,
                                   const StepSeconds& trained) {
  const ProfileInForce& known = profiles_.back();
  if (known.epoch >= epoch || last.measured_step_seconds <= 0) return;
  const double drift = last.measured_step_seconds / (passes * last.step_seconds);
  if (std::abs(drift - 1) < kDrift || last.step_seconds < kTellingStep * known.profile.step) return;
  TimingProfile now = trained.empty() ? scaled(known.profile, drift)
                                      : updated_profile(known.profile, trained, last.selection);
  std::optional<ElasticOverhead> overhead = known.overhead;
  if (overhead)
    overhead = {overhead->read * drift, overhead->choose * drift, overhead->probe * drift};
  profiles_.push_back({epoch, std::move(now), 0, "drift", overhead});
}

}  // namespace moil
