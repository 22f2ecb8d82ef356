// Batches of feature maps with their targets: from the cache where it has them, else computed.
//
// What stands between a sample and its feature map: the dataset of its origin, the model's kind,
// the backbone, and the cache in front of all three. Both ways give the same bits: what the cache
// would store as bf16 is rounded so where it is computed instead.
//
// A sample that cannot be read (a damaged file) is no reason to lose a night: fill() and survey()
// name it, and the night goes on without it (left_out.h). One that the user forgets meanwhile is
// SampleForgotten.
//
// A training sample may have several views (datasets/transforms/view.h), and each of them is a
// feature map of its own. A sample from a pack of feature maps has its plain view alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "daemon/night/backbone.h"
#include "daemon/night/decoding.h"
#include "daemon/night/mix_targets.h"
#include "daemon/night/portion.h"
#include "daemon/night/soft_targets.h"
#include "datasets/kinds/kind.h"
#include "datasets/sampling/mix.h"
#include "engine/train/batch_source.h"
#include "engine/train/task.h"
#include "featurecache/cache.h"

namespace moil::night {

// Where samples come from. A global pack of feature maps has no files: `global_samples` is null
// and `global_features` is not.
struct Origins {
  const data::SampleDataset* global_samples = nullptr;
  const data::FeatureDataset* global_features = nullptr;
  const data::SampleDataset* local_samples = nullptr;
  DecodingRoom* room = nullptr;  // what decoding may take; null: as much as it takes
};

// The views of training samples.
struct Augmentation {
  int views = 1;  // of a sample, the plain one among them
  bool flip = true;
};

// A sample as it is seen once.
struct SampleView {
  const data::MixedSample* sample = nullptr;
  std::uint16_t view = 0;  // below the sample's number of views; 0: plain
  std::uint32_t part = 0;  // below the sample's parts, or data::kSilence
};

// The user has forgotten a sample of the mix: the night begins anew, without it.
class SampleForgotten : public Error {
 public:
  explicit SampleForgotten(const std::string& what) : Error(ErrorCode::kIo, what) {}
};

struct UnreadableSample {
  const data::MixedSample* sample = nullptr;
  std::string name;  // what the dataset calls it
  std::string why;
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
  // Whether training shows the mean of a sample's parts: where the kind asks for it, and a feature
  // map is one vector, of which a mean is another.
  bool trains_on_means() const;
  // In how many ways training shows a sample, one after the other: a view of a part each, or, where
  // it trains on means, a view of all parts; silence, where it is shown, is one behind them.
  std::int64_t faces(const data::MixedSample& sample) const;
  // Whether training shows silence beside the sample: local ones of a kind that has some.
  bool shows_silence(const data::MixedSample& sample) const;
  // The face that a sample shows when it is its turn.
  std::int64_t face_at(const data::MixedSample& sample, std::int64_t turn) const;
  // Views that may be mirrored are others than those that may not: bit 15 of the key's view.
  cache::FeatureKey key(const SampleView& wanted) const;

  // Writes one feature map a view. A sample that cannot be read is noted in `unreadable`, and its
  // rows are of no meaning; without such a list it is kIo, for it could be read before.
  using Unreadable = std::vector<UnreadableSample>;  // each sample once
  void read(std::span<const SampleView> wanted, float* out, Unreadable* unreadable = nullptr);
  // Into the first rows of a network's inputs, which take elements() together.
  void read(std::span<const SampleView> wanted, std::span<const BatchTensor> inputs);

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
    Unreadable unreadable;                  // samples, of which there are none
    std::int64_t uncached = 0;              // that the cache has no room for
    std::string why_uncached;
  };
  // Brings every feature map into the cache, but for those of a pack, and those that it has no room
  // for: read() computes these each time. `progress` is told how many of feature_maps() are dealt
  // with, after each batch, and stops the work by returning false; so returns false where it was
  // stopped. Its memory does not grow with the samples.
  bool fill(std::span<const Portion> portions, Filled& filled,
            const std::function<bool(std::int64_t done)>& progress);
  // Where there is no cache: reads every sample once, as fill() does, and keeps nothing of it.
  bool survey(std::span<const Portion> portions, Unreadable& unreadable,
              const std::function<bool(std::int64_t done)>& progress);

  // From now on read() also puts what it computes into the cache, for as long as that takes it.
  void keep_what_is_computed() { keeps_ = cache_ != nullptr; }

  // Of the buffers that computing needs.
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
  void read_cached(std::span<const SampleView> wanted, float* out, Unreadable* unreadable);
  void compute(std::span<const SampleView> wanted, float* out, Unreadable* unreadable);
  void compute_missing(std::span<const SampleView> wanted, float* out, Unreadable* unreadable);
  void keep_computed(const Unreadable* unreadable);
  // One batch of the backbone at most, into inputs_.
  void decode(std::span<const SampleView> wanted, Unreadable* unreadable);
  void put(std::span<const SampleView> wanted, const float* features, Filling& filling);
  bool in_parts(const Portion& portion,
                const std::function<bool(std::span<const SampleView>)>& work) const;
  std::int64_t missing(const Portion& portion, const Unreadable& unreadable);
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

// Where targets of global samples come from beside their labels. Of what labels leave unknown
// (MixTargets), a teacher alone tells.
struct Teacher {
  const SoftTargets* soft = nullptr;  // of the same samples, with at most as many outputs
  double share = 0;                   // of a target; labels are the rest
};

// An index names a sample and one of its faces, a view of a part: sample + size() * face. So 0 to
// size() - 1 are the samples' first parts as they are; training asks for those that order() tells.
// Where it trains on means, a face is a view of all parts together.
class FeatureSource : public BatchSource {
 public:
  // `samples`, their targets, `reader` and the teacher must outlive it.
  FeatureSource(const std::vector<data::MixedSample>& samples, const MixTargets& targets,
                FeatureReader& reader, const Teacher& teacher = {})
      : samples_(samples),
        targets_(targets),
        reader_(reader),
        teacher_(teacher),
        means_(reader.trains_on_means()) {}

  // One a sample, for a network whose loss takes weights; it outlives the source. None: 1.
  void weigh(const std::vector<float>& weights) { weights_ = &weights; }

  std::int64_t size() const override { return static_cast<std::int64_t>(samples_.size()); }
  void read(std::span<const std::int64_t> indices, const Batch& batch) override;

  // The indices of an epoch that goes through the samples in this order. Each sample shows the face
  // that follows the one of the epoch before, and one that comes several times the faces behind it;
  // neighbours show different ones; a function of its arguments alone. Now and then, a sample shows
  // silence in place of a face.
  std::vector<std::int64_t> order(std::span<const std::size_t> samples, std::int64_t epoch) const;

 private:
  SampleView shown(std::int64_t index) const;
  bool is_silent(const SampleView& shown) const;
  void read_soft(std::int64_t sample, const SampleView& shown);
  void read_means(const BatchTensor& input);
  void write_target(std::int64_t sample, const SampleView& shown, std::span<float> target);

  const std::vector<data::MixedSample>& samples_;
  const MixTargets& targets_;
  FeatureReader& reader_;
  Teacher teacher_;
  const bool means_;  // asked once: a step allocates nothing
  const std::vector<float>* weights_ = nullptr;
  std::vector<float> soft_, soft_sum_;  // one sample's
  std::vector<SampleView> views_, parts_;
  std::vector<std::size_t> row_of_part_;
  std::vector<float> part_maps_;  // of one backbone batch
};

// Every part of every sample, one after the other, as it is, without parts that hold no signal
// beside others that do: what judging asks for.
class PartSource : public BatchSource {
 public:
  // `samples`, their targets and `reader` must outlive it.
  PartSource(const std::vector<data::MixedSample>& samples, const MixTargets& targets,
             FeatureReader& reader);

  std::int64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  void read(std::span<const std::int64_t> indices, const Batch& batch) override;
  SampleView part(std::int64_t index) const;
  // Whether it is its sample's last.
  bool ends_sample(std::int64_t index) const {
    return std::ranges::binary_search(ends_, index + 1);
  }

 private:
  const std::vector<data::MixedSample>& samples_;
  const MixTargets& targets_;
  FeatureReader& reader_;
  std::vector<std::int64_t> ends_;  // of each sample's shown parts; growing
  std::vector<SampleView> batch_;
};

}  // namespace moil::night
