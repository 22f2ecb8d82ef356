// Batches of feature maps with their targets: of samples to train on, or to judge by.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "daemon/night/data/mix_targets.h"
#include "daemon/night/data/soft_targets.h"
#include "daemon/night/maps/feature_reader.h"

namespace moil::night {

// What targets of global samples come from beside their labels. A teacher alone says what labels
// leave unknown (MixTargets).
struct Teacher {
  const SoftTargets* soft = nullptr;  // of the same samples, with at most as many outputs
  double share = 0;                   // of a target; labels are the rest
};

// An index names a sample and one of its faces, a view of a part: sample + size() * face. So 0 to
// size() - 1 are the samples' first parts as they are; training asks for the faces in order().
// If it trains on means, a face is a view of all parts together.
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

  std::int64_t size() const override { return static_cast<std::int64_t>(samples_.size()); }
  void read(std::span<const std::int64_t> indices, const Batch& batch) override;

  // The indices of an epoch that goes through the samples in this order. Each sample shows the face
  // that follows the one of the epoch before; neighbours show different ones; a function of its
  // arguments alone. Now and then, a sample shows silence in place of a face.
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
  const bool means_;                    // asked once: a step allocates nothing
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
