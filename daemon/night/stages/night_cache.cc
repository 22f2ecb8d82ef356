#include "daemon/night/stages/night_cache.h"

namespace moil::night {

// Global samples are nobody's to forget, be they labelled as well.
bool NightCache::may_store(const cache::SampleDigest& sample) const {
  const data::Digest digest{sample.bytes};
  return global_.contains(digest) ||
         night_.data.is_remembered({{data::Source::kLocal, 0}, digest, {}});
}

void NightCache::open(daemon::CacheDtype dtype) {
  cache::Options options;
  options.quota_bytes = static_cast<std::uint64_t>(night_.file.cache_quota_bytes);
  options.leave_free_bytes = static_cast<std::uint64_t>(night_.file.leave_free_bytes);
  options.stored_as =
      dtype == daemon::CacheDtype::kBf16 ? cache::StoredType::kBf16 : cache::StoredType::kFp32;
  options.may_store = [this](const cache::SampleDigest& sample) { return may_store(sample); };
  cache_ = std::make_unique<cache::FeatureCache>(night_.layout.cache(), options);
}

cache::ModelId NightCache::use(NightModel& model, daemon::CacheDtype dtype, const data::Mix& mix) {
  global_.clear();
  for (const auto* list : {&mix.train, &mix.global_validation})
    for (const data::MixedSample& sample : *list)
      if (sample.ref.source == data::Source::kGlobal) global_.insert(sample.digest);
  if (!cache_) open(dtype);
  const std::string stored = dtype == daemon::CacheDtype::kBf16 ? " bf16" : " fp32";
  const cache::ModelId id =
      cache::model_id(model.cache_fingerprint() + stored, night_.base.kind->fingerprint());
  cache_->use_model(id, "up to " + model.freeze.split + ", " +
                            std::to_string(model.backbone->feature_elements()) + " elements" +
                            stored);
  return id;
}

}  // namespace moil::night
