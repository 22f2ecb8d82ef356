// A global pack of the kind `features`: feature maps of a named backbone, cut at a named tensor.
// Far smaller than images, and the device is spared the forward passes (MoIL thesis, the storage
// argument).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "datasets/pack/feature_shard.h"
#include "datasets/pack/pack_writer.h"
#include "datasets/samples/dataset.h"

namespace moil::data {

// One thread. Without finish() nothing that could be opened is left.
class FeaturePackWriter {
 public:
  // kAlreadyExists if the folder is not empty.
  FeaturePackWriter(const std::filesystem::path& folder, std::vector<std::string> classes,
                    KindPtr kind, const PackBackbone& backbone, const PackOptions& options = {});

  // features: backbone.floats() values. kInvalidArgument if they, or the labels, do not fit.
  // described: PackShard::described; these are added behind all others.
  void add(Split split, std::span<const ClassId> labels, const Digest& digest,
           std::span<const float> features, bool described = false);
  // PackManifest::reached; before finish().
  void set_reached(std::uint64_t reached) { pack_.set_reached(reached); }
  void finish();

 private:
  void close(Split split);

  PackWriter pack_;
  bool describes_ = false;
  std::optional<FeatureShardWriter> open_[2];  // by split
};

class FeaturePack : public FeatureDataset {
 public:
  [[nodiscard]] virtual const PackManifest& manifest() const = 0;
};

// Checks the pack whole, checksums included. kFailedPrecondition if it is of the other kind.
[[nodiscard]] std::unique_ptr<FeaturePack> open_feature_pack(const std::filesystem::path& folder);

}  // namespace moil::data
