#include "daemon/night/stages/night_cache.h"

#include "base/files/file.h"
#include "daemon/night/plan/map_identity.h"

namespace moil::night {

// Global samples are nobody's to forget, be they labelled as well.
bool NightCache::may_store(const cache::SampleDigest& sample) const {
  const data::Digest digest{sample.bytes};
  return global_.contains(digest) ||
         night_.data.is_remembered({{data::Source::kLocal, 0}, digest, {}});
}

void NightCache::open(daemon::StoredFloats dtype) {
  cache::Options options;
  options.quota_bytes = static_cast<std::uint64_t>(night_.file.cache_quota_bytes);
  options.leave_free_bytes = static_cast<std::uint64_t>(night_.file.leave_free_bytes);
  options.stored_as = stored_type(dtype);
  options.may_store = [this](const cache::SampleDigest& sample) { return may_store(sample); };
  cache_ = std::make_unique<cache::FeatureCache>(night_.layout.cache(), options);
}

cache::ModelId NightCache::use(NightModel& model, daemon::StoredFloats dtype,
                               const data::Mix& mix) {
  global_.clear();
  for (const auto* list : {&mix.train, &mix.global_validation})
    for (const data::MixedSample& sample : *list)
      if (sample.is_global()) global_.insert(sample.digest);
  if (!cache_) open(dtype);
  const MapIdentity maps =
      map_identity(*model.backbone, model.freeze.split, dtype, *night_.base.kind);
  cache_->use_model(maps.id, maps.description);
  note_use(maps.id);
  return maps.id;
}

// For whoever removes what nobody uses while this night waits for the next one.
void NightCache::note_use(const cache::ModelId& id) const {
  const auto file = night_.layout.job_maps(night_.file.id);
  std::string ids = std::filesystem::exists(file) ? read_text(file) : "";
  const std::string line = cache::to_hex(id) + "\n";
  if (ids.find(line) == std::string::npos) write_file_atomic(file, ids + line);
}

}  // namespace moil::night
