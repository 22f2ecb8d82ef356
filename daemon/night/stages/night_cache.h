// The feature cache as a night uses it: opened once, for the backbone that is at work.
#pragma once

#include <memory>
#include <unordered_set>

#include "daemon/night/plan/night_model.h"
#include "daemon/night/stages/night_context.h"
#include "featurecache/cache.h"

namespace moil::night {

class NightCache {
 public:
  // The context outlives it.
  explicit NightCache(NightContext& night) : night_(night) {}
  NightCache(const NightCache&) = delete;
  NightCache& operator=(const NightCache&) = delete;

  // Opens it if it is not open yet; for this mix from now on.
  cache::ModelId use(NightModel& model, daemon::StoredFloats dtype, const data::Mix& mix);
  cache::FeatureCache* cache() const { return cache_.get(); }  // null: not in use

 private:
  void open(daemon::StoredFloats dtype);
  void note_use(const cache::ModelId& id) const;
  bool may_store(const cache::SampleDigest& sample) const;

  NightContext& night_;
  std::unordered_set<data::Digest> global_;  // of the mix
  std::unique_ptr<cache::FeatureCache> cache_;
};

}  // namespace moil::night
