// What a model's classifier reads of samples of the label store, by day: of feature maps that a
// night or a look before left in the cache, else of computed ones, which are left there in turn.
//
// They are what a night would compute, to the bit: its kernels are measured if no night has yet,
// and recorded. A look makes no room for itself: it evicts nothing, and takes no more than half of
// the quota, for a night's own maps may be under the same name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "daemon/night/maps/classifier_features.h"
#include "daemon/night/maps/feature_source.h"
#include "daemon/night/plan/kernel_profile.h"
#include "daemon/spec/worker_protocol.h"
#include "engine/device/conv/measuring_time.h"
#include "engine/model/freeze.h"
#include "featurecache/cache.h"

namespace moil::night {

struct StudiedModel;

// How far a look is: of milliseconds that kernels are measured (kMeasure), of feature maps
// (kCache).
using StudyProgress =
    std::function<void(daemon::Stage stage, std::int64_t done, std::int64_t total)>;

class StudyMaps {
 public:
  // Both outlive it.
  StudyMaps(const StudiedModel& studied, const data::SampleDataset& samples);

  // Rows of the views, in their order; of a sample that cannot be read, of no meaning. Those whose
  // maps are there and the others are read apart: both by the batch. read: told of so many more.
  void read(std::span<const SampleView> views, std::vector<float>& rows, UnreadableSamples& bad,
            const std::function<void(std::size_t)>& read);

 private:
  std::vector<std::uint8_t> stored(std::span<const SampleView> views) const;
  std::vector<float> rows_of(std::span<const SampleView> views, UnreadableSamples& bad,
                             const std::function<void(std::size_t)>& read);

  struct Kept {
    cache::ModelId id;
    std::unique_ptr<cache::FeatureCache> cache;  // null: none is of use
  };
  Kept opened(const StudiedModel& studied);

  const KernelProfile profile_;
  MeasuringTime measuring_;
  KernelSelector backbone_kernels_, head_kernels_;
  const Freeze freeze_;
  const WeightsOfPart of_part_;
  Backbone backbone_;
  const Kept kept_;
  const Origins origins_;
  FeatureReader reader_;
  ClassifierFeatures features_;
};

}  // namespace moil::night
