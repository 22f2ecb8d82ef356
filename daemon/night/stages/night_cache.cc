#include "daemon/night/stages/night_cache.h"

#include "base/file.h"

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
      if (sample.is_global()) global_.insert(sample.digest);
  if (!cache_) open(dtype);
  const std::string stored = dtype == daemon::CacheDtype::kBf16 ? " bf16" : " fp32";
  const cache::ModelId id =
      cache::model_id(model.cache_fingerprint() + stored, night_.base.kind->fingerprint());
  cache_->use_model(id, "up to " + model.freeze.split + ", " +
                            std::to_string(model.backbone->feature_elements()) + " elements" +
                            stored);
  note_use(id);
  return id;
}

// For whoever removes what nobody uses while this night waits for the next one.
void NightCache::note_use(const cache::ModelId& id) const {
  const auto file = night_.layout.job_maps(night_.file.id);
  std::string ids = std::filesystem::exists(file) ? read_text(file) : "";
  const std::string line = cache::to_hex(id) + "\n";
  if (ids.find(line) == std::string::npos) write_file_atomic(file, ids + line);
}

}  // namespace moil::night
