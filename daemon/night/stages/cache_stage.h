// Cache: every sample's feature map, computed once. Without a cache: whether every sample can be
// read.
//
// Reads and fills the feature cache (featurecache/cache.h); leaves nothing in the job's folder, for
// what a killed night had put into the cache is there.
#pragma once

#include <array>
#include <memory>

#include "daemon/night/maps/feature_source.h"
#include "daemon/night/stages/night_cache.h"
#include "daemon/night/stages/plan_stage.h"

namespace moil::night {

class CacheStage {
 public:
  CacheStage(NightContext& night, NightCache& cache, PlanStage& plan)
      : night_(night), cache_(cache), plan_(plan) {}

  // Samples that cannot be read: the night is to be planned anew without them, and this run again.
  [[nodiscard]] UnreadableSamples run();
  // Reads the night's feature maps, once run() found nothing unreadable.
  FeatureReader& reader();

  // Null: none is used.
  cache::FeatureCache* cache() const { return plan_.has_cache() ? cache_.cache() : nullptr; }
  const cache::ModelId& model_id() const { return model_id_; }
  const FeatureReader::Filled& filled() const { return filled_; }

 private:
  // The mix's: what is trained as its epochs show it, what judges as it is.
  std::array<FeatureReader::Portion, 3> portions() const;
  void fill();
  void survey();
  void go_on_uncached(std::int64_t total);

  NightContext& night_;
  NightCache& cache_;
  PlanStage& plan_;
  cache::ModelId model_id_;
  FeatureReader::Filled filled_;
  std::unique_ptr<FeatureReader> reader_;
};

}  // namespace moil::night
