// From settings to a trained head: what a night does, and each trial of settings.
//
// NightRun run(night, maps);  run.prepare();  run.train();
#pragma once

#include <optional>

#include "daemon/night/stages/cache_stage.h"
#include "daemon/night/stages/distill_stage.h"
#include "daemon/night/stages/imprint_stage.h"
#include "daemon/night/stages/plan_stage.h"
#include "daemon/night/stages/train_stage.h"

namespace moil::night {

class NightRun {
 public:
  // Both outlive it.
  NightRun(NightContext& night, NightCache& maps)
      : night_(night), plan_(night), cache_(night, maps, plan_) {}

  // Plans the context's job and brings the feature maps of its samples; again, if either has
  // changed. Samples that cannot be read: it is to be run again without them.
  [[nodiscard]] UnreadableSamples prepare() {
    plan_.run();
    return cache_.run();
  }
  // Asks the teacher, imprints rows and trains.
  void train() {
    FeatureReader& reader = cache_.reader();
    distill_.emplace(night_, plan_.model(), reader).run();
    imprint_.emplace(night_, plan_, reader).run();
    train_.emplace(night_, plan_, reader, distill_->teacher()).run();
  }

  PlanStage& plan() { return plan_; }
  const PlanStage& plan() const { return plan_; }
  CacheStage& cache() { return cache_; }
  const CacheStage& cache() const { return cache_; }
  // After train().
  const DistillStage& distilled() const { return *distill_; }
  const ImprintStage& imprinted() const { return *imprint_; }
  TrainStage& trained() { return *train_; }
  const TrainStage& trained() const { return *train_; }

 private:
  NightContext& night_;
  PlanStage plan_;
  CacheStage cache_;
  std::optional<DistillStage> distill_;
  std::optional<ImprintStage> imprint_;
  std::optional<TrainStage> train_;
};

}  // namespace moil::night
