// Plan: what will be computed by whom, and in how much memory; with stages measure (kernels) and
// profile (elastic training's times).
//
// Reads choices.json, the kernel profile and the timing profiles of this device; leaves them with
// what was measured now, so that a resumed night computes and selects the same.
#pragma once

#include <memory>

#include "daemon/night/data/decoding.h"
#include "daemon/night/plan/memory_forecast.h"
#include "daemon/night/plan/night_model.h"
#include "daemon/night/plan/processors.h"
#include "daemon/night/plan/timing_store.h"
#include "daemon/night/stages/night_context.h"

namespace moil::night {

class PlanStage {
 public:
  explicit PlanStage(NightContext& night) : night_(night) {}
  ~PlanStage();
  PlanStage(const PlanStage&) = delete;
  PlanStage& operator=(const PlanStage&) = delete;

  // For the context's mix; again, if that has changed. kInvalidArgument for what the job asks
  // for and cannot have.
  void run();

  NightModel& model() { return model_; }
  const NightModel& model() const { return model_; }
  bool has_cache() const { return night_.spec.cache.enabled && !model_.backbone->is_identity(); }
  const ProfileInForce& profile() const { return profile_; }  // of elastic training

  // Training's, null if nothing trains, and "feature_maps" if some are computed: records as
  // Placement has them.
  nlohmann::json processors() const;

  const MemoryForecast& forecast() const { return forecast_; }
  // Feature maps that the cache had no room for are computed beside training: the forecast
  // takes that in. `what`: of the maps. Throws DiskFull, or kInvalidArgument, over the budget.
  void forecast_uncached(const std::string& what);

  TimingStore timing_store() const;

 private:
  void begin_measuring();
  void after_kernel(double seconds);
  void plan_networks();
  NightPlanInput input();
  void choose_head();
  void keep_kernels();
  void place_training();
  void plan_placed();
  void tell_processors(const char* what, const char* unit, const nlohmann::json& record);
  void profile_if_elastic();
  void raise_rho();
  ProfileInForce measured_profile();
  void require_budget(const MemoryForecast& forecast) const;

  NightContext& night_;
  std::chrono::steady_clock::time_point last_progress_{};
  DecodingNeeds needs_;
  std::unique_ptr<DecodingRoom> room_;
  NightModel model_;
  ProfileInForce profile_;
  Placement placement_;  // of training
  MemoryForecast forecast_;
};

}  // namespace moil::night
