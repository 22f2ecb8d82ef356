#include "daemon/night/stages/cache_stage.h"

#include <algorithm>

namespace moil::night {

using daemon::Stage;

UnreadableSamples CacheStage::run() {
  plan_.has_cache() ? fill() : survey();
  return std::exchange(filled_.unreadable, {});
}

FeatureReader& CacheStage::reader() {
  if (!reader_) {
    NightModel& model = plan_.model();
    reader_ =
        std::make_unique<FeatureReader>(night_.data.origins(), model.bundle.kind, *model.backbone,
                                        cache(), model_id_, night_.augmentation());
  }
  return *reader_;
}

std::array<FeatureReader::Portion, 3> CacheStage::portions() const {
  return {{trained_portion(night_.mix, night_.spec, plan_.model().asks_plain),
           {night_.mix.global_validation},
           {night_.mix.local_validation}}};
}

void CacheStage::fill() {
  model_id_ = cache_.use(plan_.model(), night_.spec.cache.dtype, night_.mix);
  Backbone& backbone = *plan_.model().backbone;
  FeatureReader reader(night_.data.origins(), night_.base.kind, backbone, cache(), model_id_,
                       night_.augmentation());
  const auto samples = portions();
  const std::int64_t total = reader.feature_maps(samples);
  night_.begin(Stage::kCache, total);
  filled_.reused = -filled_.computed;  // before samples were left out, which is not reuse
  filled_.uncached = 0;
  filled_.why_uncached.clear();
  if (!reader.fill(samples, filled_,
                   [&](std::int64_t done) { return night_.report(Stage::kCache, done, total); }))
    throw Stopped{};
  filled_.reused = std::max(filled_.reused, std::int64_t{0});
  if (filled_.uncached > 0 && filled_.unreadable.empty()) go_on_uncached(total);
  backbone.release();
}

// Without a cache every epoch reads the samples: once before, to know which can be.
void CacheStage::survey() {
  if (night_.is_read) return;
  FeatureReader reader(night_.data.origins(), night_.base.kind, *plan_.model().backbone, nullptr,
                       {});
  const std::array<FeatureReader::Portion, 3> samples = {
      {{night_.mix.train}, {night_.mix.global_validation}, {night_.mix.local_validation}}};
  const std::int64_t total = reader.feature_maps(samples);
  night_.begin(Stage::kMix, total);
  if (!reader.survey(samples, filled_.unreadable,
                     [&](std::int64_t done) { return night_.report(Stage::kMix, done, total); }))
    throw Stopped{};
}

// What did not fit into the cache is computed each time it is used, beside training.
void CacheStage::go_on_uncached(std::int64_t total) {
  const std::string what = std::to_string(filled_.uncached) + " of " + std::to_string(total) +
                           " feature maps do not fit into the cache (" + filled_.why_uncached + ")";
  plan_.forecast_uncached(what);
  night_.events.note(what +
                     "; they are computed each time they are used, which takes longer: raise "
                     "cache.quota_bytes, free disk space, store bf16, or ask for fewer views");
}

}  // namespace moil::night
