// A dataset: samples with an identity, labels and a split; and, in the classes below, what a sample
// is made of. D_L, D_G and their mix are all handled through these.
//
// All methods are const and may be called from any thread, unless a reader says otherwise. Indices
// are below size(); a larger one is kInvalidArgument.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/identity/digest.h"
#include "datasets/identity/split.h"

namespace moil::data {

using ClassId = std::uint32_t;  // an index into classes()

// The scene of a sample that looks like no other, as far as is known.
inline constexpr std::int64_t kOwnScene = 0;

class Dataset {
 public:
  virtual ~Dataset() = default;

  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual const std::vector<std::string>& classes() const = 0;
  // One or more, sorted; none of a sample of which only denied() is known. Valid while the dataset
  // lives.
  [[nodiscard]] virtual std::span<const ClassId> labels(std::size_t i) const = 0;
  // Labels that some samples are said not to have (labels/denial.h), sorted; they need be no
  // classes.
  [[nodiscard]] virtual const std::vector<std::string>& denials() const {
    static const std::vector<std::string> none;
    return none;
  }
  // Which of them the sample is said not to have, by their places; sorted. As labels() otherwise.
  [[nodiscard]] virtual std::span<const ClassId> denied(std::size_t /*i*/) const { return {}; }
  [[nodiscard]] virtual Split split(std::size_t i) const = 0;
  // May read the sample's bytes; not remembered.
  [[nodiscard]] virtual Digest digest(std::size_t i) const = 0;
  // Samples that look alike share it, and are of one split.
  [[nodiscard]] virtual std::int64_t scene(std::size_t /*i*/) const { return kOwnScene; }
  // Whether it is no sample of the world, but what a classifier's rows describe (PackShard).
  [[nodiscard]] virtual bool is_described(std::size_t /*i*/) const { return false; }
};

// The first bytes of a file, and how many there are.
struct EncodedHead {
  std::vector<std::uint8_t> bytes;
  std::uint64_t size = 0;  // of the file
};

// Samples as files: what a network sees of one, its kind knows (kinds/kind.h).
class SampleDataset : public Dataset {
 public:
  // The bytes as they are stored; a file made of the sample if the source has none.
  [[nodiscard]] virtual std::vector<std::uint8_t> encoded(std::size_t i) const = 0;
  // Its first bytes, `most` at most: if a file is large, without reading the rest.
  [[nodiscard]] virtual EncodedHead head(std::size_t i, std::size_t most) const;
  // What an error calls the sample: a path, an archive's member, a line of a CSV.
  [[nodiscard]] virtual std::string name(std::size_t i) const = 0;
};

// Samples as feature maps of a named backbone, cut at a named tensor.
class FeatureDataset : public Dataset {
 public:
  [[nodiscard]] virtual const std::vector<std::int64_t>& shape() const = 0;  // of one sample
  [[nodiscard]] virtual std::size_t floats() const = 0;                      // of one sample
  [[nodiscard]] virtual const std::string& backbone() const = 0;             // its fingerprint
  [[nodiscard]] virtual const std::string& split_point() const = 0;
  // Writes floats() values. kInvalidArgument if `out` has room for another number: whoever
  // reads is of another backbone.
  void read(std::size_t i, std::span<float> out) const;

 protected:
  virtual void read_into(std::size_t i, float* out) const = 0;
};

// Indices of the samples of a split, in order.
[[nodiscard]] std::vector<std::size_t> samples_of(const Dataset& dataset, Split split);

// The one label of each sample; kInvalidArgument if a sample has several.
[[nodiscard]] std::vector<ClassId> single_labels(const Dataset& dataset);

}  // namespace moil::data
