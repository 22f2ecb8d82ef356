// pack.json: what a global pack holds (docs/global-pack-format.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "datasets/identity/digest.h"
#include "datasets/identity/split.h"
#include "datasets/kinds/kind.h"

namespace moil::data {

inline constexpr int kPackVersion = 1;

enum class PackKind { kSamples, kFeatures };
enum class FeatureType { kFloat32, kBfloat16 };
// Who says what the samples' labels are: whoever labelled the data, or the model that the pack is
// for. The second are its own answers, against which it can be held for agreement alone.
enum class PackTargets { kLabels, kModel };

struct PackShard {
  std::string file;  // a name in the pack's folder
  Split split = Split::kTrain;
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
  Digest checksum;         // of the whole file
  bool described = false;  // its features are of no samples: a classifier's rows describe them
};

// Which network the feature maps come from, and where it was cut.
struct PackBackbone {
  std::string fingerprint;
  std::string split_point;          // the tensor's name
  std::vector<std::int64_t> shape;  // of one sample, channels last, no batch
  FeatureType type = FeatureType::kFloat32;

  [[nodiscard]] std::size_t floats() const;
};

struct PackManifest {
  PackKind kind = PackKind::kSamples;
  std::vector<std::string> classes;
  // kSamples only: stands between the labels in a class's name (split_labels.h); 0: a class is one
  // label.
  char label_separator = 0;
  PackTargets targets = PackTargets::kLabels;
  // kModel only: how many classes are the answer to some real sample that is trained on; the others
  // have features that the model's classifier describes, or none.
  std::uint64_t reached = 0;
  KindPtr sample_kind;    // of the samples, or of what the feature maps were made of
  PackBackbone backbone;  // kFeatures only
  std::vector<PackShard> shards;

  [[nodiscard]] std::uint64_t samples(Split split) const;
};

// Reads <folder>/pack.json and checks it whole, and that every shard is there with its size.
// kNotFound, kBadData (naming file and field), kUnimplemented (a newer version).
[[nodiscard]] PackManifest read_manifest(const std::filesystem::path& folder);
// Durably; the last step of writing a pack.
void write_manifest(const std::filesystem::path& folder, const PackManifest& manifest);

// Reads a shard from end to end; kBadData if its checksum is not the manifest's.
void verify_shard(const std::filesystem::path& folder, const PackShard& shard);
[[nodiscard]] Digest checksum_of(const std::filesystem::path& file);

}  // namespace moil::data
