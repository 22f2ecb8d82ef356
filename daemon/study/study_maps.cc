#include "daemon/study/study_maps.h"

#include <algorithm>
#include <utility>

#include "base/durations.h"
#include "base/error.h"
#include "daemon/night/maps/head_slice.h"
#include "daemon/night/plan/map_identity.h"
#include "daemon/night/plan/night_model.h"
#include "daemon/study/labelled_features.h"

namespace moil::night {
namespace {

// What a night's backbone would be computed by. What lies behind the maps is not kept: for that the
// best guess does.
KernelSelector kernels_of(const daemon::JobSpec& spec, const KernelProfile& profile,
                          MeasuringTime* time) {
  KernelSelector::Options options;
  options.exact_arithmetic = spec.exact_arithmetic;
  options.measure = time != nullptr;
  options.time = time;
  return KernelSelector(options, {}, profile.choices);
}

// If nothing is frozen, the classifier alone is behind the maps.
Freeze freeze_of(const StoredModel& model, const daemon::JobSpec& spec) {
  return freeze_all_but_last(model.description,
                             std::max(1, spec.freeze.trainable_layers.count.value_or(1)));
}

ModelDescription front(const StudiedModel& studied, const Freeze& freeze) {
  return front_of(head_slice(studied.model.description, freeze), studied.input);
}

// So that what is computed next, by a night or a look, has the same name.
void keep_profile(const std::filesystem::path& file, const KernelProfile& profile) {
  try {
    save_kernel_profile(file, profile);
  } catch (const Error&) {  // then it is measured again
  }
}

std::unique_ptr<cache::FeatureCache> open_cache(const StudiedModel& studied,
                                                const MapIdentity& maps, bool read_only) {
  const daemon::JobFile& file = studied.file;
  cache::Options options;
  options.read_only = read_only;
  options.evicts = false;
  if (file.cache_quota_bytes > 0)
    options.quota_bytes = static_cast<std::uint64_t>(file.cache_quota_bytes + 1) / 2;
  options.leave_free_bytes = static_cast<std::uint64_t>(file.leave_free_bytes);
  options.stored_as = stored_type(file.spec.cache.dtype);
  options.may_store = [&studied](const cache::SampleDigest& sample) {
    return studied.store.has(data::Digest{sample.bytes});
  };
  auto cache = std::make_unique<cache::FeatureCache>(studied.layout.cache(), std::move(options));
  cache->use_model(maps.id, maps.description);
  return cache;
}

// None if it cannot be used: what is computed again is the same.
std::unique_ptr<cache::FeatureCache> usable_cache(const StudiedModel& studied,
                                                  const MapIdentity& maps) {
  for (const bool read_only : {false, true}) {
    try {
      return open_cache(studied, maps, read_only);
    } catch (const Error&) {
    }
  }
  return nullptr;
}

}  // namespace

StudyMaps::StudyMaps(const StudiedModel& studied, const data::SampleDataset& samples)
    : profile_(load_kernel_profile(studied.layout.kernel_profile())),
      measuring_(kMeasuringSeconds,
                 [&studied](double seconds) {
                   studied.tell(daemon::Stage::kMeasure, moil::milliseconds(seconds).count(),
                                moil::milliseconds(kMeasuringSeconds).count());
                 }),
      backbone_kernels_(kernels_of(studied.file.spec, profile_, &measuring_)),
      head_kernels_(kernels_of(studied.file.spec, profile_, nullptr)),
      freeze_(freeze_of(studied.model, studied.file.spec)),
      of_part_([&studied](const ModelDescription& part) { return studied.model.weights.of(part); }),
      backbone_(studied.model.description, of_part_, freeze_, kBackboneBatch, backbone_kernels_),
      kept_(opened(studied)),
      origins_{nullptr, nullptr, &samples, nullptr},
      reader_(origins_, studied.model.kind, backbone_, kept_.cache.get(), kept_.id),
      features_(front(studied, freeze_), studied.input, reader_, head_kernels_, of_part_) {
  reader_.keep_what_is_computed();
}

StudyMaps::Kept StudyMaps::opened(const StudiedModel& studied) {
  const daemon::JobSpec& spec = studied.file.spec;
  if (backbone_.is_identity() || !spec.cache.enabled) return {};
  KernelProfile profile{backbone_kernels_.profile(), answer_by_arithmetic(backbone_, profile_)};
  keep_profile(studied.layout.kernel_profile(), profile);
  const MapIdentity maps =
      map_identity(backbone_, freeze_.split, spec.cache.dtype, *studied.model.kind);
  return {maps.id, usable_cache(studied, maps)};
}

void StudyMaps::read(std::span<const SampleView> views, std::vector<float>& rows,
                     UnreadableSamples& bad, const std::function<void(std::size_t)>& read) {
  std::vector<SampleView> there, missing;
  const std::vector<std::uint8_t> is_there = stored(views);
  for (std::size_t i = 0; i < views.size(); ++i)
    (is_there[i] != 0 ? there : missing).push_back(views[i]);
  const std::vector<float> of_there = rows_of(there, bad, read),
                           of_missing = rows_of(missing, bad, read);
  const std::size_t width =
      views.empty() ? 0 : (of_there.size() + of_missing.size()) / views.size();
  rows.clear();
  std::size_t next_there = 0, next_missing = 0;
  for (const std::uint8_t found : is_there) {
    const auto from =
        found != 0 ? of_there.begin() + static_cast<std::ptrdiff_t>(width * next_there++)
                   : of_missing.begin() + static_cast<std::ptrdiff_t>(width * next_missing++);
    rows.insert(rows.end(), from, from + static_cast<std::ptrdiff_t>(width));
  }
}

std::vector<std::uint8_t> StudyMaps::stored(std::span<const SampleView> views) const {
  std::vector<std::uint8_t> is_there(views.size());
  if (!kept_.cache) return is_there;
  std::vector<cache::FeatureKey> keys;
  for (const SampleView& view : views) keys.push_back(reader_.key(view));
  kept_.cache->contains(keys, is_there);
  return is_there;
}

std::vector<float> StudyMaps::rows_of(std::span<const SampleView> views, UnreadableSamples& bad,
                                      const std::function<void(std::size_t)>& read) {
  constexpr std::size_t kAtOnce = ClassifierFeatures::kViewsAtOnce;
  std::vector<float> rows;
  for (std::size_t at = 0; at < views.size(); at += kAtOnce) {
    const auto some = views.subspan(at, std::min(kAtOnce, views.size() - at));
    features_.add(some, rows, &bad);
    read(some.size());
  }
  return rows;
}

}  // namespace moil::night
