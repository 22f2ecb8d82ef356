// Feature maps of samples: from the cache if it has them, else computed.
//
// Between a sample and its feature map stand the dataset of its origin, the model's kind, the
// backbone, and the cache in front of all three. Both ways give the same bits: what the cache would
// store as bf16 is rounded so if it is computed instead.
//
// A sample that cannot be read (a damaged file) is no reason to lose a night: fill() and survey()
// name it, and the night goes on without it (left_out.h). One that the user forgets meanwhile is
// SampleForgotten.
//
// A training sample may have several views (datasets/transforms/view.h), and each of them is a
// feature map of its own. A sample from a pack of feature maps has its plain view alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "daemon/night/data/origins.h"
#include "daemon/night/data/sample_view.h"
#include "daemon/night/maps/backbone.h"
#include "daemon/night/maps/portion.h"
#include "datasets/kinds/kind.h"
#include "engine/train/batch_source.h"
#include "featurecache/cache.h"

namespace moil::night {

// The views of training samples.
struct Augmentation {
  int views = 1;  // of a sample, the plain one among them
  bool flip = true;
};

// One thread at a time; decodes with several inside.
class FeatureReader {
 public:
  // cache null: every feature map is computed each time. `origins`, `backbone` and the cache must
  // outlive it.
  FeatureReader(const Origins& origins, data::KindPtr kind, Backbone& backbone,
                cache::FeatureCache* cache, const cache::ModelId& model,
                const Augmentation& augmentation = {});

  std::size_t elements() const { return backbone_.feature_elements(); }
  const data::Kind& kind() const { return *kind_; }
  // How many views training samples of this source have.
  int views_of(data::Source source) const;
  // Whether training shows the mean of a sample's parts: it does if the kind asks for it and a
  // feature map is one vector, of which a mean is another.
  bool trains_on_means() const;
  // In how many ways training shows a sample, one after the other: a view of a part each, or, if
  // it trains on means, a view of all parts; silence, if it is shown, is one behind them.
  std::int64_t faces(const data::MixedSample& sample) const;
  // Whether training shows silence beside the sample: local ones of a kind that has some.
  bool shows_silence(const data::MixedSample& sample) const;
  // The face that a sample shows when it is its turn.
  std::int64_t face_at(const data::MixedSample& sample, std::int64_t turn) const;
  // Views that may be mirrored are others than those that may not: bit 15 of the key's view.
  cache::FeatureKey key(const SampleView& wanted) const;

  // Writes one feature map a view. A sample that cannot be read is noted in `unreadable`, and its
  // rows are of no meaning; without such a list it is kIo, for it could be read before.
  void read(std::span<const SampleView> wanted, float* out,
            UnreadableSamples* unreadable = nullptr);
  // Into the first rows of a network's inputs, which take elements() together.
  void read(std::span<const SampleView> wanted, std::span<const BatchTensor> inputs);

  // What a network is shown of each, before any layer: Kind::floats() values. kIo for a sample that
  // cannot be read.
  void show(std::span<const SampleView> wanted,
            const std::function<void(std::size_t i, std::span<const float> shown)>& each);

  using Portion = night::Portion;
  // Whether the portion asks for a view of the sample at this place; of its shown parts, the n-th.
  bool asks_for(const Portion& portion, std::size_t sample, const SampleView& view,
                std::uint32_t n) const;
  // Whether it asks for silence beside that sample.
  bool asks_for_silence(const Portion& portion, std::size_t sample) const;
  // Feature maps of all portions, those of a pack included.
  std::int64_t feature_maps(std::span<const Portion> portions) const;

  struct Filled {
    std::int64_t computed = 0, reused = 0;  // feature maps
    UnreadableSamples unreadable;           // samples, of which there are none
    std::int64_t uncached = 0;              // that the cache has no room for
    std::string why_uncached;
  };
  // Brings every feature map into the cache, but for those of a pack, and those that it has no room
  // for: read() computes these each time. `progress` is told how many of feature_maps() are dealt
  // with, after each batch, and stops the work by returning false; so returns false if it was
  // stopped. Its memory does not grow with the samples.
  bool fill(std::span<const Portion> portions, Filled& filled,
            const std::function<bool(std::int64_t done)>& progress);
  // If there is no cache: reads every sample once, as fill() does, and keeps nothing of it.
  bool survey(std::span<const Portion> portions, UnreadableSamples& unreadable,
              const std::function<bool(std::int64_t done)>& progress);

  // From now on read() also puts what it computes into the cache, for as long as that takes it.
  void keep_what_is_computed() { keeps_ = cache_ != nullptr; }

  // The buffers that computing needs.
  std::size_t buffer_bytes() const;
  // Feature maps that are computed together, and take as long as fewer of them.
  std::size_t batch() const { return static_cast<std::size_t>(backbone_.batch()); }

 private:
  struct Filling {
    Filled& filled;
    const std::function<bool(std::int64_t done)>& progress;
    std::int64_t done = 0;
  };
  bool from_pack(data::Source source) const;
  std::int64_t packed(const Portion& portion) const;
  // The faces, silence aside, that a sample shows in so many epochs: one behind the other.
  struct Turns {
    std::int64_t first = 0, count = 0;
    bool silence = false;
  };
  Turns turns_of(const Portion& portion, std::size_t sample) const;
  void read_cached(std::span<const SampleView> wanted, float* out, UnreadableSamples* unreadable);
  void compute(std::span<const SampleView> wanted, float* out, UnreadableSamples* unreadable);
  void compute_missing(std::span<const SampleView> wanted, float* out,
                       UnreadableSamples* unreadable);
  void keep_computed(const UnreadableSamples* unreadable);
  // One batch of the backbone at most, into inputs_.
  void decode(std::span<const SampleView> wanted, UnreadableSamples* unreadable);
  void put(std::span<const SampleView> wanted, const float* features, Filling& filling);
  bool in_parts(const Portion& portion,
                const std::function<bool(std::span<const SampleView>)>& work) const;
  std::int64_t missing(const Portion& portion, const UnreadableSamples& unreadable);
  bool fill_some(std::span<const SampleView> wanted, Filling& filling);
  bool compute_into_cache(std::span<const SampleView> missing, Filling& filling);
  static bool store(Filled& filled, const std::function<void()>& put);

  const Origins& origins_;
  data::KindPtr kind_;
  Backbone& backbone_;
  cache::FeatureCache* cache_;
  cache::ModelId model_;
  Augmentation augmentation_;
  const bool means_;
  bool keeps_ = false;
  std::vector<float> inputs_;  // of one backbone batch
  std::vector<float> rows_;    // on their way into several inputs
  std::vector<cache::FeatureKey> keys_;
  std::vector<std::uint8_t> found_;
  std::vector<std::size_t> missing_;  // of what was looked up
  std::vector<SampleView> computing_;
  std::vector<float> computed_;  // of these
};

}  // namespace moil::night
