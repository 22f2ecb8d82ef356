// Cache: every sample's feature map, computed once. Without a cache: whether every sample can be
// read.
//
// Reads and fills the feature cache (featurecache/cache.h); leaves nothing in the job's folder, for
// what a killed night had put into the cache is there.
#pragma once

#include <array>
#include <memory>
#include <unordered_set>

#include "daemon/night/feature_source.h"
#include "daemon/night/stages/night_context.h"
#include "daemon/night/stages/plan_stage.h"
#include "featurecache/cache.h"

namespace moil::night {

class CacheStage {
 public:
  CacheStage(NightContext& night, PlanStage& plan) : night_(night), plan_(plan) {}

  // Samples that cannot be read: the night is to be planned anew without them, and this run again.
  [[nodiscard]] FeatureReader::Unreadable run();
  // Of the night's feature maps, once run() found nothing unreadable.
  FeatureReader& reader();

  cache::FeatureCache* cache() const { return cache_.get(); }  // null: none
  const cache::ModelId& model_id() const { return model_id_; }
  const FeatureReader::Filled& filled() const { return filled_; }

 private:
  // Of the mix: what is trained with all of its views or with the plain one, what judges as it is.
  std::array<FeatureReader::Portion, 3> portions(bool all_views) const;
  void open();
  void fill();
  void survey();
  void go_on_uncached(std::int64_t total);
  bool may_store(const cache::SampleDigest& sample) const;

  NightContext& night_;
  PlanStage& plan_;
  std::unordered_set<data::Digest> global_;  // of the mix
  std::unique_ptr<cache::FeatureCache> cache_;
  cache::ModelId model_id_;
  FeatureReader::Filled filled_;
  std::unique_ptr<FeatureReader> reader_;
};

}  // namespace moil::night
