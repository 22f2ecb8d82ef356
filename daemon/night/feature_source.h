// Batches of feature maps with their targets: from the cache where it has them, else computed.
//
// What stands between a sample and its feature map: the dataset of its origin, the preprocessing,
// the backbone, and the cache in front of all three. Both ways give the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "daemon/night/backbone.h"
#include "daemon/night/soft_targets.h"
#include "datasets/sampling/mix.h"
#include "datasets/transforms/preprocessing.h"
#include "engine/train/batch_source.h"
#include "featurecache/cache.h"

namespace moil::night {

// Where samples come from. A global pack of feature maps has no images: `global_images` is null and
// `global_features` is not.
struct Origins {
  const data::ImageDataset* global_images = nullptr;
  const data::FeatureDataset* global_features = nullptr;
  const data::ImageDataset* local_images = nullptr;
};

// One thread at a time; decodes with several inside.
class FeatureReader {
 public:
  // cache null: every feature map is computed each time.
  FeatureReader(const Origins& origins, const data::Preprocessing& preprocessing,
                Backbone& backbone, cache::FeatureCache* cache, const cache::ModelId& model);

  std::size_t elements() const { return backbone_.feature_elements(); }
  cache::FeatureKey key(const data::MixedSample& sample) const;

  // Writes one feature map a sample. Throws what decoding throws, naming the file.
  void read(std::span<const data::MixedSample* const> samples, float* out);

  struct Filled {
    std::int64_t computed = 0, reused = 0;
  };
  // Brings every sample's feature map into the cache. `progress` is told how many are there, after
  // each batch, and stops the work by returning false; so returns false where it was stopped.
  bool fill(std::span<const data::MixedSample* const> samples, Filled& filled,
            const std::function<bool(std::int64_t done)>& progress);

  // Of the buffers that computing needs.
  std::size_t buffer_bytes() const;

 private:
  bool from_pack(const data::MixedSample& sample) const;
  void read_cached(std::span<const data::MixedSample* const> samples, float* out);
  void compute(std::span<const data::MixedSample* const> samples, float* out);

  const Origins& origins_;
  data::Preprocessing preprocessing_;
  Backbone& backbone_;
  cache::FeatureCache* cache_;
  cache::ModelId model_;
  std::vector<float> images_;  // of one backbone batch
  std::vector<cache::FeatureKey> keys_;
  std::vector<std::uint8_t> found_;
};

// Where targets of global samples come from beside their labels.
struct Teacher {
  const SoftTargets* soft = nullptr;  // of the same samples, with at most as many classes
  double share = 0;                   // of a target; labels are the rest
};

class FeatureSource : public BatchSource {
 public:
  // `samples`, `reader` and the teacher must outlive it.
  FeatureSource(const std::vector<data::MixedSample>& samples, std::size_t classes,
                FeatureReader& reader, const Teacher& teacher = {})
      : samples_(samples), classes_(classes), reader_(reader), teacher_(teacher) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(samples_.size()); }
  void read(std::span<const std::int64_t> samples, float* inputs, float* targets) override;

 private:
  void write_target(std::int64_t sample, float* target);

  const std::vector<data::MixedSample>& samples_;
  std::size_t classes_;
  FeatureReader& reader_;
  Teacher teacher_;
  std::vector<float> soft_;  // one sample's
  std::vector<const data::MixedSample*> batch_;
};

}  // namespace moil::night
